import { describe, expect, it } from 'vitest'
import { buildOf, openStage, sendAll, settled, until } from '../support/app.ts'
import { BUILDS, headlines, saidIn, untilSaid } from './channel.ts'

const followed = { settings: { DEFAULT_CHANNEL: BUILDS } }

describe('a Slack', () => {
  it('that was down gets each message once when it is back, with the newest state', async () => {
    const { app, slack } = await openStage(followed)
    slack.faults.add({ kind: 'down' })
    await sendAll(app.url, ...[1, 2, 3, 4].map((n) => buildOf(n, { status: 'initiated' })))
    await until('it is no longer tried, but asked for', () => slack.counters.calls('auth.test', 'fault:down') >= 2)
    expect(slack.counters.calls('chat.postMessage')).toBeLessThanOrEqual(4)
    expect((await fetch(`${app.url}/readyz`)).status).toBe(503)
    await sendAll(app.url, ...[1, 2, 3, 4].map((n) => buildOf(n, { status: n === 4 ? 'success' : 'error' })))
    slack.faults.clear()
    await until('all four are told', () => headlines(slack, BUILDS).length === 4, 60_000)
    await settled(app.url, 60_000)
    expect(headlines(slack, BUILDS).sort()).toEqual([
      'Failed acme/web #1',
      'Fixed acme/web #4',
      'Still failing acme/web #2',
      'Still failing acme/web #3',
    ])
    expect(saidIn(slack, BUILDS).flatMap(({ replies }) => replies)).toEqual([])
    expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
  }, 90_000)

  it('that accepts a message and loses the answer shows it once', async () => {
    const { app, slack } = await openStage(followed)
    slack.faults.add({ kind: 'accept-then-drop', method: 'chat.postMessage', times: 1 })
    slack.faults.add({ kind: 'accept-then-5xx', method: 'chat.update', times: 1 })
    await sendAll(app.url, { status: 'initiated' })
    await untilSaid(slack, BUILDS, ['Running acme/web #512'])
    await sendAll(app.url, { status: 'error' })
    await until('the reply is there', () => saidIn(slack, BUILDS)[0]!.replies.length > 0)
    await settled(app.url, 60_000)
    expect(headlines(slack, BUILDS)).toEqual(['Failed acme/web #512'])
    expect(saidIn(slack, BUILDS)[0]!.replies).toHaveLength(1)
  }, 90_000)

  it('that accepts a message long after it closed the connection shows it once', async () => {
    const { app, slack } = await openStage(followed)
    slack.faults.add({ kind: 'accept-late', method: 'chat.postMessage', times: 1, ms: 4_000 })
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
    await settled(app.url, 60_000)
    expect(headlines(slack, BUILDS)).toEqual(['Failed acme/web #512'])
  }, 90_000)
})
