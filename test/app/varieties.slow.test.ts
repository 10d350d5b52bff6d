import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandboxSlack, type SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { ACCOUNTS, CHANNELS, GRID, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import {
  buildOf,
  openFolder,
  sendAll,
  settingsWith,
  settled,
  startApp,
  until,
  type RunningApp,
} from '../support/app.ts'

// The bot among what Slacks are besides a small workspace: it answers, and no error escapes.

const { builds: BUILDS } = CHANNELS
const { ada, grace, lin } = PEOPLE

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
  await slack.people.sendEvent({ type: 'channel_unarchive', channel: BUILDS, user: grace })
  const isShown = () => slack.messages(BUILDS).some(({ text }) => String(text).includes(`#${builds} failed`))
  await until('the card shows the end', isShown)
})

test('of an organization it knows the members by each of their workspaces, or none', async () => {
  for (const isFlat of [false, true]) {
    slack.acts.setGridTeams(lin, { teams: [GRID.otherTeam, slack.workspace.team.id], isFlat })
    expect(await answerTo(lin, 'help')).toBe('Buildline')
  }
})

test('it obeys no bot, in whichever form, and lets no name mean one', async () => {
  const before = slack.ephemerals(BUILDS).length
  for (const by of ['app', 'workflow'] as const)
    expect(await slack.people.mentionByBot({ channel: BUILDS, text: 'help', by })).toMatchObject({ kind: 'answered' })
  for (const user of [ACCOUNTS.otherBot, ACCOUNTS.workflow, ACCOUNTS.connector])
    expect(await answerTo(grace, `me robo for <@${user}|robo>`)).toMatch(/cannot mean/)
  expect(slack.ephemerals(BUILDS)).toHaveLength(before + 3)
})

test('of a person whom it may not see it knows nothing, and does nothing for them', async () => {
  slack.acts.hide(lin)
  expect(await answerTo(lin, 'restart')).toMatch(/Not allowed/)
})

test('it names a channel by its id, so that Slack shows the present name', async () => {
  slack.acts.rename(BUILDS, 'all-builds')
  await answerTo(ada, 'rules test acme/web main')
  expect(slack.ephemerals(BUILDS, ada).at(-1)!.message.text).toContain(`<#${BUILDS}>`)
})

test('none of this is an error that nobody expected', () => {
  expect(linesOf(app).filter(({ err }) => err !== undefined)).toEqual([])
})
