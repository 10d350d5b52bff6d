import { describe, expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { BUILDS, headlines, OPS, untilSaid, WEB } from './channel.ts'
import { buildOf, openStage, rowsOf, sendAll, settled, until, type Stage } from '../support/app.ts'

const { ada } = PEOPLE

// A subscription counts only while it can deliver: its channel can be posted in, and its branches match something.

const linesIn = ({ slack }: Pick<Stage, 'slack'>, words: string): string[] =>
  slack.messages(BUILDS).flatMap(({ text }) => (String(text).includes(words) ? [String(text)] : []))

async function openFollowed(...subscriptions: string[]): Promise<Stage> {
  const stage = await openStage({
    settings: { DEFAULT_CHANNEL: BUILDS },
    ...(subscriptions.length > 0 && { subscriptions }),
    slack: { rates: 'off', ackTimeoutMs: 30_000 },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  return stage
}

const red = (n: number, more: object = {}) => buildOf(n, { status: 'error', ...more })

describe('while the only subscribed channel is archived', () => {
  it('the default channel gets its builds, and one line that says why; afterwards the channel alone gets them', async () => {
    const stage = await openFollowed(`{ channel: ${WEB}, project: acme/web }`)
    await sendAll(stage.app.url, red(1))
    await untilSaid(stage.slack, WEB, ['Failed acme/web #1'])
    stage.slack.acts.archive(WEB)
    await sendAll(stage.app.url, red(2), red(3))
    await until('both are shown', () => linesIn(stage, 'acme/web #').length === 2)
    expect(linesIn(stage, 'cannot be reached')).toEqual([
      expect.stringMatching(
        new RegExp(`^:mute: <#${WEB}> cannot be reached since <!date.*>, so acme/web is shown here.$`),
      ),
    ])
    expect(linesIn(stage, 'acme/web #1 ')).toEqual([])
    stage.slack.acts.unarchive(WEB)
    const invited = { type: 'member_joined_channel', user: stage.slack.workspace.bot.userId, channel: WEB }
    await stage.slack.people.sendEvent(invited)
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
    stage.slack.acts.archive(WEB)
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
    stage.slack.acts.archive(WEB)
    // A late outcome of an older build concerns the newer one, too.
    await sendAll(stage.app.url, red(1))
    await until('the older one is shown', () => linesIn(stage, 'acme/web #1 ').length === 1)
    expect(linesIn(stage, 'acme/web #2 ')).toEqual([])
  })
})

it('a channel of the file without the bot does not count, and the log at the start says so', async () => {
  const stage = await openFollowed(`{ channel: ${CHANNELS.elsewhere}, project: acme/web }`)
  await until('the log says so', () => stage.app.lines.some((line) => line.includes('Buildline is not in channel')))
  await until('it is known', () => rowsOf(stage.folder, 'select 1 from channel').length === 1)
  await sendAll(stage.app.url, red(1))
  await until('it is shown', () => linesIn(stage, 'acme/web #1').length === 1, 4_000)
  stage.slack.acts.inviteBot(CHANNELS.elsewhere)
  await until('it is shown there, too', () => headlines(stage.slack, CHANNELS.elsewhere).length === 1)
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

  it('takes no project away whose builds name no branch', async () => {
    const stage = await openFollowed(`{ channel: ${WEB}, project: acme/web, branch: main }`)
    await sendAll(stage.app.url, red(1, { branch: null }))
    await settled(stage.app.url)
    expect(linesIn(stage, 'acme/web #1')).toHaveLength(1)
  })

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

const kept = ({ folder }: Stage) => rowsOf(folder, 'select channel, rules, mention, remind from subscription')

/** What a command is answered with. */
async function answerTo({ slack }: Stage, text: string, channel: string = WEB) {
  const before = slack.ephemerals(channel, ada).length
  await slack.people.runCommand({ user: ada, channel, command: '/ci', text })
  return until(`${text} is answered`, () => slack.ephemerals(channel, ada)[before]?.message)
}

const branchesKept = (stage: Stage) =>
  kept(stage).map(({ rules }) => (JSON.parse(String(rules)) as { branch: string | null }[])[0]!.branch)

describe('/ci subscribe', () => {
  const { openGroup, addChannel } = {
    openGroup: ({ slack }: Stage) => slack.acts.openGroup([ada, PEOPLE.lin]),
    addChannel: ({ slack }: Stage) => slack.acts.addChannel({ name: 'board', kind: 'private', members: [ada] }),
  }
  const restricted = ({ slack }: Stage) => {
    slack.acts.restrict(OPS, { postingRestrictedTo: { type: ['admin'] } })
    return OPS
  }

  it.each([
    ['a group direct message', openGroup, 'Type the same in the channel that should get the builds.'],
    ['a private channel without the bot', addChannel, '/invite @Buildline'],
    ['a channel where only some may post', restricted, 'only some people may post in it'],
  ])('stores nothing in %s, and says what to do; the project stays where it was', async (_, open, words) => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, red(1))
    const channel = open(stage)
    for (const text of ['subscribe acme/web', 'import acme/web', 'subscribe all failed'])
      expect((await answerTo(stage, text, channel)).text).toContain(words)
    expect(kept(stage)).toEqual([])
    await sendAll(stage.app.url, red(2))
    await settled(stage.app.url)
    expect(linesIn(stage, 'acme/web #')).toHaveLength(2)
  })

  it('warns of a branch that no known branch matches, also for all projects', async () => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, red(1))
    await settled(stage.app.url)
    const { text } = await answerTo(stage, 'subscribe acme/web failed mian')
    expect(text).toContain('*Subscribed*')
    expect(text).toContain('No branch of acme/web matches `mian` yet. Did you mean `main`?')
    expect((await answerTo(stage, 'subscribe acme/web relase/*')).text).toContain('matches `relase/*` yet.')
    expect((await answerTo(stage, 'subscribe all failed nowhere')).text).toContain('No branch of any project matches')
    expect(branchesKept(stage)).toEqual(['mian', 'relase/*', 'nowhere'])
  })

  it('does not warn of a branch that is known, or a pattern that matches one', async () => {
    const stage = await openFollowed(`{ channel: ${OPS}, project: acme/web }`)
    await sendAll(stage.app.url, red(1))
    await settled(stage.app.url)
    for (const words of ['ma*', '^main$', 'main'])
      expect((await answerTo(stage, `subscribe acme/web failed ${words}`)).text).not.toContain('No branch')
  })

  it.each(['all', 'everything'])('takes `%s` as every event, and `@all` as a branch', async (word) => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, red(1))
    await settled(stage.app.url)
    expect((await answerTo(stage, `subscribe acme/web ${word}`)).text).toContain('every event on every branch')
    expect(kept(stage)).toMatchObject([{ rules: expect.stringContaining('"events":"every"') }])
    expect((await answerTo(stage, `subscribe acme/web @${word}`)).text).toContain('No branch of acme/web matches')
    expect((await answerTo(stage, `subscribe acme/web failed ${word}`)).text).toContain('contradict each other')
  })

  it('repeats all that it has understood', async () => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, red(1))
    await settled(stage.app.url)
    const { text } = await answerTo(stage, 'subscribe acme/web failed main quiet remind 2h')
    for (const words of ['*acme/web*: failed on `main`', 'Mentions the committer', 'quiet', 'reminds after 2 h'])
      expect(text).toContain(words)
    const other = await answerTo(stage, 'subscribe acme/web changes no-mention')
    for (const words of ['changes on every branch', 'Mentions nobody', 'no reminders'])
      expect(other.text).toContain(words)
  })
})
