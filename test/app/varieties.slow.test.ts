import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandboxSlack, type SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { ACCOUNTS, CHANNELS, GRID, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import {
  buildOf,
  openFolder,
  rowsOf,
  sendAll,
  settingsWith,
  settled,
  startApp,
  until,
  type RunningApp,
} from '../support/app.ts'

// The bot among what Slacks are besides a small workspace: it answers, and no error escapes.

const { builds: BUILDS } = CHANNELS
const { ada, grace, gus, lin } = PEOPLE

const { folder, remove } = openFolder()
let slack: SandboxSlack
let app: RunningApp
let builds = 0

beforeAll(async () => {
  // Bolt is loaded by the first request, which takes its time on a busy machine.
  slack = createSandboxSlack({ rates: 'off', ackTimeoutMs: 30_000 })
  await slack.start()
  app = await startApp(settingsWith(folder, { SLACK_API_URL: slack.apiUrl, DEFAULT_CHANNEL: BUILDS, CI_ADMINS: grace }))
  slack.connectBot(`${app.url}/slack/events`)
})

afterAll(async () => {
  await app.stop()
  await slack.stop()
  remove()
})

const linesOf = (logged: RunningApp) => logged.lines.map((line) => JSON.parse(line) as { msg: string; err?: unknown })

/** A command, and the first words of its answer. */
async function answerTo(user: string, text: string, channel: string = BUILDS): Promise<string> {
  const before = slack.ephemerals(channel, user).length
  expect(await slack.people.runCommand({ user, channel, command: '/ci', text })).toMatchObject({ kind: 'answered' })
  await until(`${text} is answered`, () => slack.ephemerals(channel, user).length > before)
  const { message } = slack.ephemerals(channel, user).at(-1)!
  return /\*([^*]+)\*/.exec(message.text)?.[1] ?? message.text
}

test.each([
  ['in a group direct message', 'Not a channel', () => slack.acts.openGroup([ada, lin])],
  [
    'in a private channel without the bot',
    'Digest set',
    () => slack.acts.addChannel({ name: 'board', kind: 'private', members: [ada] }),
  ],
])('%s it answers, though it cannot post', async (_, digest, open) => {
  const channel = open()
  expect(await answerTo(ada, 'status', channel)).toBe('No build yet')
  expect(await answerTo(ada, 'digest daily 9:00', channel)).toBe(digest)
})

test.each([
  { isReadOnly: true },
  { isThreadOnly: true },
  { isNonThreadable: true },
  { postingRestrictedTo: { type: ['admin'] } },
])('in a channel with %j it logs what Slack refuses, and posts when it may again', async (restriction) => {
  const code = restriction.isNonThreadable ? /non_threadable/ : /restricted_action(?:_read_only|_thread_only)?/
  const before = app.lines.length
  slack.acts.restrict(BUILDS, restriction)
  const one = buildOf((builds += 1))
  await sendAll(app.url, { ...one, status: 'initiated' })
  // Only a card that was posted gets a reply.
  if (restriction.isNonThreadable) await settled(app.url)
  await sendAll(app.url, { ...one, status: 'error' })
  await until('Slack has refused', () => app.lines.slice(before).some((line) => code.test(line)))
  slack.acts.restrict(BUILDS, null)
  const { userId } = slack.workspace.bot
  await slack.people.sendEvent({ type: 'member_joined_channel', channel: BUILDS, user: userId })
  const isShown = () => slack.messages(BUILDS).some(({ text }) => String(text).includes(`#${builds} failed`))
  await until('the card shows the end', isShown)
})

test('it knows a member of several workspaces of an organization', async () => {
  slack.acts.setGridTeams(lin, { teams: [GRID.otherTeam, slack.workspace.team.id], isFlat: true })
  expect(await answerTo(lin, 'rules')).toBe('1 subscription')
})

test('it obeys no bot, in whichever form, and lets no name mean one', async () => {
  const before = slack.ephemerals(BUILDS).length
  const channels = slack.workspace.channels.size
  const isDone = (done: Promise<unknown>) => expect(done).resolves.toMatchObject({ kind: 'answered' })
  for (const by of ['app', 'workflow'] as const)
    await isDone(slack.people.mentionByBot({ channel: BUILDS, text: 'help', by }))
  const text = `<@${slack.workspace.bot.userId}> help`
  const forms = [
    { user: ACCOUNTS.otherBot },
    { user: ACCOUNTS.workflow },
    { user: ACCOUNTS.connector },
    { user: 'USLACKBOT' },
    { user: ada, subtype: 'bot_message' },
    { user: ada, bot_profile: { id: 'B0OTHERBOT', name: 'Other app' } },
    { user: ada, app_id: 'A0OTHERBOT' },
    { username: 'Workflow' },
  ]
  for (const [at, form] of forms.entries())
    await isDone(slack.people.sendEvent({ type: 'app_mention', channel: BUILDS, text, ts: `9000.${at}`, ...form }))
  for (const user of [ACCOUNTS.otherBot, ACCOUNTS.workflow, ACCOUNTS.connector])
    expect(await answerTo(grace, `me robo for <@${user}|robo>`)).toMatch(/cannot mean/)
  // What those asked who came before is done by now.
  expect(slack.ephemerals(BUILDS)).toHaveLength(before + 3)
  expect(slack.workspace.channels.size).toBe(channels)
  expect(rowsOf(folder, 'select * from interaction')).toEqual([])
})

test('a person whom it may not see is told so', async () => {
  slack.acts.hide(gus)
  await answerTo(gus, 'restart')
  const { message } = slack.ephemerals(BUILDS, gus).at(-1)!
  expect(message.text).toContain('Slack did not say who you are')
})

test('it names a channel by its id, so that Slack shows the present name', async () => {
  slack.acts.rename(BUILDS, 'all-builds')
  await answerTo(ada, 'rules test acme/web main')
  expect(slack.ephemerals(BUILDS, ada).at(-1)!.message.text).toContain(`<#${BUILDS}>`)
})

test('none of this is an error that nobody expected', () => {
  expect(linesOf(app).filter(({ err }) => err !== undefined)).toEqual([])
})
