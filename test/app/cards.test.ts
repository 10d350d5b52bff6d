import { describe, expect, it } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { buildOf, openStage, sendAll, settled, until } from '../support/app.ts'
import { BUILDS, headlines, OPS, saidIn, untilSaid, WEB } from './channel.ts'

const followed = { settings: { DEFAULT_CHANNEL: BUILDS } }

describe('a build', () => {
  it('has one card that is edited in place, and a reply in its thread when it has ended', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'initiated' })
    await untilSaid(slack, BUILDS, ['Running acme/web #512'])
    const [born] = saidIn(slack, BUILDS)
    await sendAll(app.url, { status: 'error' })
    await until('the reply is there', () => saidIn(slack, BUILDS)[0]!.replies.length > 0)
    await settled(app.url)
    const [card, ...others] = saidIn(slack, BUILDS)
    expect(others).toEqual([])
    expect(card).toMatchObject({
      ts: born!.ts,
      text: expect.stringContaining('*Failed* acme/web #512 on `main`') as string,
    })
    expect(card!.replies).toEqual([{ text: expect.stringContaining('*Failed*') as string, isBroadcast: true }])
    expect(slack.counters.ratelimited()).toBe(0)
  })

  it('that is first received after its end has no reply beside its card', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
    await settled(app.url)
    expect(saidIn(slack, BUILDS)[0]!.replies).toEqual([])
  })

  it('with repeated, late and reordered deliveries looks the same', async () => {
    const { app, slack } = await openStage(followed)
    const told = ['success', 'success', 'waiting', 'initiated', 'success', 'initiated']
    await sendAll(app.url, ...told.map((status) => ({ status })))
    await settled(app.url)
    expect(headlines(slack, BUILDS)).toEqual(['Passed acme/web #512'])
    expect(saidIn(slack, BUILDS)[0]!.replies).toEqual([])
  })

  it("with an unknown status shows CI's own word", async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'quarantined' })
    await untilSaid(slack, BUILDS, ['quarantined acme/web #512'])
  })

  it('with an address that has a line break in it has no link there', async () => {
    const { app, slack } = await openStage(followed)
    const broken = (path: string) => `https://ci.example/acme/web\n        ${path}`
    await sendAll(app.url, { status: 'error', build_url: broken('builds/1'), commit_url: broken('commit/a1b2c') })
    await settled(app.url)
    const said = JSON.stringify(messagesIn(slack, BUILDS))
    expect(said).toContain('no link: CI gave none')
    expect(said).not.toMatch(/%20|ci\.example|build_open/)
  })

  it('of another commit has its own card', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, buildOf(1, { status: 'success' }), buildOf(2, { status: 'stopped' }))
    await settled(app.url)
    expect(headlines(slack, BUILDS).sort()).toEqual(['Passed acme/web #1', 'Stopped acme/web #2'])
  })

  it('with hostile text has no mentions, links or formatting from it', async () => {
    const { app, slack } = await openStage(followed)
    const hostile = '<!channel> <@U0ADA00001> <https://evil.example|ok> *x*'
    await sendAll(app.url, {
      status: 'error',
      message: hostile,
      branch: hostile,
      committer: hostile,
      project_name: hostile,
    })
    await until('a card is there', () => saidIn(slack, BUILDS).length === 1)
    const [card] = slack.messages(BUILDS)
    const marked = [String(card!['text']), ...mrkdwnIn(card)]
    expect(marked.length).toBeGreaterThan(1)
    for (const active of ['<!channel', '<@U0ADA', '<https://evil', ' *x* '])
      expect(marked.join('\n')).not.toContain(active)
  })
})

describe('a recovery', () => {
  it('is a success after a failure on the same branch', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(
      app.url,
      buildOf(1, { status: 'error' }),
      buildOf(2, { status: 'stopped' }),
      buildOf(3, { status: 'success' }),
    )
    await settled(app.url)
    expect(headlines(slack, BUILDS).sort()).toEqual(['Failed acme/web #1', 'Fixed acme/web #3', 'Stopped acme/web #2'])
  })

  it('is not a success after a success, on another branch, or in another project', async () => {
    const { app, slack } = await openStage(followed)
    const failed = [buildOf(1, { status: 'error' }), buildOf(2, { status: 'success', branch: 'next' })]
    await sendAll(app.url, ...failed, buildOf(3, { status: 'success', project_id: 12, project_name: 'acme/api' }))
    await sendAll(app.url, buildOf(4, { status: 'success' }), buildOf(5, { status: 'success' }))
    await settled(app.url)
    expect(headlines(slack, BUILDS).sort()).toEqual([
      'Failed acme/web #1',
      'Fixed acme/web #4',
      'Passed acme/api #3',
      'Passed acme/web #2',
      'Passed acme/web #5',
    ])
  })

  it('is shown on the newer build when the failure before it arrives late', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, buildOf(2, { status: 'success' }))
    await untilSaid(slack, BUILDS, ['Passed acme/web #2'])
    await sendAll(app.url, buildOf(1, { status: 'error' }))
    await settled(app.url)
    expect(headlines(slack, BUILDS)).toEqual(['Fixed acme/web #2', 'Failed acme/web #1'])
  })
})

describe('builds that CI refused for the account', () => {
  it('make one notice in a channel, with their number, and no cards', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, buildOf(1, { status: 'ignored' }))
    await until('the notice is there', () => saidIn(slack, BUILDS).length === 1)
    await sendAll(
      app.url,
      buildOf(2, { status: 'ignored' }),
      buildOf(3, { status: 'blocked' }),
      buildOf(2, { status: 'ignored' }),
    )
    await until('it counts three', () => saidIn(slack, BUILDS)[0]!.text.includes('3 builds were not built'))
    await settled(app.url)
    expect(saidIn(slack, BUILDS)).toHaveLength(1)
    expect(saidIn(slack, BUILDS)[0]).toMatchObject({
      text: expect.stringContaining('monthly limit (2), resource use (1)') as string,
      replies: [],
    })
  })

  it('are announced in each channel that follows failures, and in no other', async () => {
    const { app, slack } = await openStage({
      subscriptions: [
        `{ channel: ${BUILDS}, project: all, events: [failed] }`,
        `{ channel: ${WEB}, project: acme/web }`,
        `{ channel: ${OPS}, project: all, events: [success] }`,
      ],
    })
    await sendAll(app.url, buildOf(1, { status: 'ignored' }))
    await settled(app.url)
    expect([BUILDS, WEB, OPS].map((channel) => saidIn(slack, channel).length)).toEqual([1, 1, 0])
  })
})

/** Every text of a message that Slack parses as markup. */
function mrkdwnIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(mrkdwnIn)
  if (typeof value !== 'object' || value === null) return []
  const own = 'type' in value && value.type === 'mrkdwn' && 'text' in value ? [String(value.text)] : []
  return [...own, ...Object.values(value).flatMap(mrkdwnIn)]
}
