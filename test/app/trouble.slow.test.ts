import { describe, expect, it } from 'vitest'
import type { SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { buildOf, openStage, sendAll, settled, until } from '../support/app.ts'
import { ARCHIVED, BUILDS, headlines, saidIn, untilSaid, WEB } from './channel.ts'

const followed = { settings: { DEFAULT_CHANNEL: BUILDS } }

describe('a channel without access', () => {
  it.each([
    ['archived', ARCHIVED],
    ['that does not exist', 'C0NOTHING1'],
    ['without the bot', 'C0ELSEWH01'],
  ])('(%s) does not stop the others', async (_, closed) => {
    const { app, slack } = await openStage({
      subscriptions: [`{ channel: ${closed}, project: all }`, `{ channel: ${BUILDS}, project: all }`],
    })
    await sendAll(app.url, buildOf(1, { status: 'error' }))
    await untilSaid(slack, BUILDS, ['Failed acme/web #1'])
    await sendAll(app.url, buildOf(2, { status: 'error' }), buildOf(3, { status: 'success' }))
    await until('the open channel has all three', () => headlines(slack, BUILDS).length === 3)
    const failures = slack.counters.calls('chat.postMessage') - slack.counters.calls('chat.postMessage', 'ok')
    expect(failures).toBeLessThanOrEqual(3)
    expect(app.lines.filter((line) => line.includes('someone must fix this')).length).toBeGreaterThan(0)
  })
})

describe('a card', () => {
  it.each(['invalid_blocks', 'metadata_too_large'])(
    'that Slack refuses (%s) comes whole within a minute of the end of that',
    async (error) => {
      const { app, slack } = await openStage(followed)
      slack.faults.add({ kind: 'error', method: 'chat.postMessage', error })
      await sendAll(app.url, buildOf(1, { status: 'error' }))
      // Twice as blocks and once as text, then once each.
      await until('it was refused, also as text', () => slack.counters.calls('chat.postMessage') === 5)
      expect(app.lines.filter((line) => line.includes('someone must fix this'))).toHaveLength(1)
      slack.faults.clear()
      await until('it has come', () => saidIn(slack, BUILDS).length === 1, 60_000)
      const [card] = slack.messages(BUILDS)
      expect(card).toMatchObject({ text: expect.stringContaining('#1 failed'), attachments: [expect.anything()] })
    },
    80_000,
  )

  it('that somebody deleted is posted anew once, and not a second time', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'initiated' })
    await untilSaid(slack, BUILDS, ['Running acme/web #512'])
    slack.acts.deleteMessage(BUILDS, saidIn(slack, BUILDS)[0]!.ts)
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
    await settled(app.url)
    const [anew] = saidIn(slack, BUILDS)
    slack.acts.deleteMessage(BUILDS, anew!.ts)
    await sendAll(app.url, { status: 'success' })
    await settled(app.url)
    expect(saidIn(slack, BUILDS).filter(({ text }) => text.includes('#512'))).toEqual([])
  })

  it('that can no longer be edited is followed by one that links to it', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'initiated' })
    await untilSaid(slack, BUILDS, ['Running acme/web #512'])
    const [old] = saidIn(slack, BUILDS)
    slack.acts.closeEditWindow(BUILDS, old!.ts)
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, BUILDS, ['Running acme/web #512', 'Failed acme/web #512'])
    await settled(app.url)
    expect(saidIn(slack, BUILDS)).toHaveLength(2)
    // The reply was posted below the old card before its edit was refused.
    const anew = saidIn(slack, BUILDS)[1]!
    expect(JSON.stringify(slack.messages(BUILDS).find(({ ts }) => ts === anew.ts))).toContain(
      `p${old!.ts.replace('.', '')}`,
    )
  })
})

describe('Slack', () => {
  it('that answers 429 for one channel gets no calls there for as long as it says, and no other channel waits', async () => {
    const { app, slack } = await openStage({
      subscriptions: [`{ channel: ${BUILDS}, project: all }`, `{ channel: ${WEB}, project: all }`],
    })
    slack.faults.add({ kind: 'ratelimited', method: 'chat.postMessage', channel: BUILDS, times: 1, retryAfterS: 4 })
    const sinceMs = Date.now()
    await sendAll(app.url, buildOf(1, { status: 'error' }))
    await untilSaid(slack, WEB, ['Failed acme/web #1'], 2_000)
    await sendAll(app.url, buildOf(2, { status: 'error' }))
    await untilSaid(slack, WEB, ['Failed acme/web #1', 'Still failing acme/web #2'], 3_000)
    expect(headlines(slack, BUILDS)).toEqual([])
    await until('the limited channel has caught up', () => headlines(slack, BUILDS).length === 2)
    const firstMs = Number(saidIn(slack, BUILDS)[0]!.ts) * 1_000
    expect(firstMs - sinceMs).toBeGreaterThanOrEqual(3_900)
    expect(slack.counters.ratelimited()).toBe(1)
  })

  it('whose token was revoked is asked now and then, and gets everything when the token works again', async () => {
    const { app, slack } = await openStage(followed)
    slack.acts.revokeToken()
    await sendAll(
      app.url,
      buildOf(1, { status: 'error' }),
      buildOf(2, { status: 'error' }),
      buildOf(3, { status: 'error' }),
    )
    await until('it says so', async () => (await (await fetch(`${app.url}/readyz`)).text()).includes('token_revoked'))
    const calls = slack.counters.calls('chat.postMessage')
    slack.acts.restoreToken()
    await until('all are told', () => headlines(slack, BUILDS).length === 3, 60_000)
    expect(calls).toBeLessThanOrEqual(2)
  }, 90_000)

  it('shows three concurrent builds of a channel without answering 429', async () => {
    const { app, slack } = await openStage(followed)
    const beganAt = Date.now()
    await sendAll(app.url, buildOf(1), buildOf(2), buildOf(3))
    await until('all three are told', () => headlines(slack, BUILDS).length === 3)
    expect(timesOf(slack, BUILDS)[2]! - beganAt).toBeLessThan(1_000)
    await sendAll(app.url, ...[4, 5, 6].map((n) => buildOf(n, { status: 'error' })))
    await until('all are told', () => headlines(slack, BUILDS).length === 6)
    expect(slack.counters.ratelimited()).toBe(0)
  })

  it('that allows no burst says so once for a channel, gets no calls for as long as it says, and then each card once', async () => {
    const { app, slack } = await openStage({
      slack: { rates: { postBurst: 1 } },
      subscriptions: [`{ channel: ${BUILDS}, project: all }`, `{ channel: ${WEB}, project: all }`],
    })
    await sendAll(app.url, ...Array.from({ length: 5 }, (_, n) => buildOf(n + 1, { status: 'error' })))
    const channels = [BUILDS, WEB]
    await until('all are told', () => channels.every((channel) => headlines(slack, channel).length === 5))
    await settled(app.url)
    for (const channel of channels) {
      expect(new Set(headlines(slack, channel)).size).toBe(5)
      const times = timesOf(slack, channel)
      // A call before the end of Slack's delay would be refused again. One more can be due to a call that arrives late.
      expect(times[4]! - times[0]!).toBeGreaterThanOrEqual(4_000)
    }
    expect(slack.counters.ratelimited()).toBeGreaterThanOrEqual(channels.length)
    expect(slack.counters.ratelimited()).toBeLessThanOrEqual(2 * channels.length)
  })
})

/** When the cards of a channel were posted (ms). */
const timesOf = (slack: SandboxSlack, channel: string): number[] =>
  saidIn(slack, channel).map(({ ts }) => Number(ts) * 1_000)
