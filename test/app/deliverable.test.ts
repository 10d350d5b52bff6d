import { describe, expect, it } from 'vitest'
import { BUILDS, headlines, OPS, untilSaid, WEB } from './channel.ts'
import { buildOf, openStage, sendAll, settled, until, type Stage } from '../support/app.ts'

// A subscription counts only while it can deliver: its channel can be posted in, and its branches match something.

const linesIn = ({ slack }: Pick<Stage, 'slack'>, words: string): string[] =>
  slack.messages(BUILDS).flatMap(({ text }) => (String(text).includes(words) ? [String(text)] : []))

async function openFollowed(...subscriptions: string[]): Promise<Stage> {
  const stage = await openStage({
    settings: { DEFAULT_CHANNEL: BUILDS },
    subscriptions,
    slack: { rates: 'off', ackTimeoutMs: 30_000 },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  return stage
}

const red = (n: number, more: object = {}) => buildOf(n, { status: 'error', ...more })

async function archive({ slack, app }: Stage, channel: string): Promise<void> {
  slack.acts.archive(channel)
  await until('it is closed', () => app.lines.some((line) => line.includes('a channel is closed')))
}

describe('while the only subscribed channel is archived', () => {
  it('the default channel gets its builds, and one line that says why; afterwards the channel alone gets them', async () => {
    const stage = await openFollowed(`{ channel: ${WEB}, project: acme/web }`)
    await sendAll(stage.app.url, red(1))
    await untilSaid(stage.slack, WEB, ['Failed acme/web #1'])
    await archive(stage, WEB)
    await sendAll(stage.app.url, red(2), red(3))
    await until('both are shown', () => linesIn(stage, 'acme/web #').length === 2)
    expect(linesIn(stage, 'cannot be reached')).toEqual([
      expect.stringMatching(
        new RegExp(`^:mute: <#${WEB}> cannot be reached since <!date.*>, so acme/web is shown here.$`),
      ),
    ])
    expect(linesIn(stage, 'acme/web #1 ')).toEqual([])
    stage.slack.acts.unarchive(WEB)
    await until('it is open', () => stage.app.lines.some((line) => line.includes('channel_unarchive')))
    await sendAll(stage.app.url, red(4))
    await until('it is shown there', () => headlines(stage.slack, WEB).some((one) => one.endsWith('#4')))
    await settled(stage.app.url)
    expect(linesIn(stage, 'acme/web #')).toHaveLength(2)
  })

  it('the default channel gets what that channel would get, though by itself it would not', async () => {
    const stage = await openFollowed(
      `{ channel: ${WEB}, project: acme/web, events: [started], branch: fix/* }`,
      `{ channel: ${OPS}, project: acme/web, events: [failed] }`,
    )
    await archive(stage, WEB)
    await sendAll(stage.app.url, buildOf(1, { branch: 'fix/login' }), red(2))
    await untilSaid(stage.slack, OPS, ['Failed acme/web #2'])
    await until('it is shown', () => linesIn(stage, 'acme/web #1').length === 1)
    expect(linesIn(stage, 'acme/web #2')).toEqual([])
  })

  it('a build that it showed before is not shown again in the default channel, whatever wakes it', async () => {
    const stage = await openFollowed(`{ channel: ${WEB}, project: acme/web }`)
    await sendAll(stage.app.url, buildOf(1), red(2))
    await settled(stage.app.url)
    expect(headlines(stage.slack, WEB)).toHaveLength(2)
    await archive(stage, WEB)
    // A late outcome of an older build concerns the newer one, too.
    await sendAll(stage.app.url, red(1))
    await until('the older one is shown', () => linesIn(stage, 'acme/web #1 ').length === 1)
    expect(linesIn(stage, 'acme/web #2 ')).toEqual([])
  })
})

describe('a subscription whose branches match nothing', () => {
  it.each(['"main,"', '"relase/*"', '"^mian$", branch_match: regex'])(
    'takes no project away from the default channel: %s',
    async (branch) => {
      const stage = await openFollowed(`{ channel: ${WEB}, project: acme/web, branch: ${branch} }`)
      await sendAll(stage.app.url, red(1), red(2, { branch: 'release/1' }))
      await settled(stage.app.url)
      expect(headlines(stage.slack, WEB)).toEqual([])
      expect(linesIn(stage, 'acme/web #')).toHaveLength(2)
    },
  )

  it.each(['main', 'm*', '"^main$", branch_match: regex'])(
    'but one that matches a known branch does: %s',
    async (branch) => {
      const stage = await openFollowed(`{ channel: ${WEB}, project: acme/web, branch: ${branch} }`)
      await sendAll(stage.app.url, red(1), red(2, { branch: 'release/1' }))
      await settled(stage.app.url)
      expect(headlines(stage.slack, WEB)).toHaveLength(1)
      expect(linesIn(stage, 'acme/web #')).toEqual([])
    },
  )
})
