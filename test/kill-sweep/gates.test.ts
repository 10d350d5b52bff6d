import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { createSandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { pushed as pushedPipeline } from '../../packages/sandbox-gitlab/test/support.ts'
import { createSandboxSlack, type SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { GATE_CALLBACK_ID } from '../../src/features/builds/gate-form.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { rowsOf, settingsWith, testFolder, until, writeSubscriptions } from '../support/app.ts'
import { queryOnce, startPostgres } from '../support/postgres.ts'
import { startProcess } from '../support/process.ts'
import { threadOf, untilCard } from '../support/world.ts'
import { FAST_TIME, fastClock, toText } from './fast-clock.ts'
import { hasten } from './stage.ts'
import { openTap, type Moment, type Passage, type Verdict } from './tap.ts'

// A process that is killed while it lets a build through a gate: the source is asked at most once, and the person is
// told what came of it. The big sweep has no such builds, since the CI service has no gates.

const TIMES = 5
const LONG_MS = 60_000
const FORM_MS = 3_000
const TRIES = 8
const PRELOAD = new URL('fast-time.ts', import.meta.url).pathname
const WRITE = /\/(?:pending_deployments|play|approval)$/

const [NONE, WAITS] = ['it shows no such decision', 'it says the build is still waiting for that']

const ASKED = {
  'approve at GitHub': { action: 'approve', done: 'approved', undone: NONE },
  'reject at GitHub': { action: 'reject', done: 'rejected', undone: NONE },
  'approve at GitLab': { action: 'approve', done: 'approved', undone: NONE },
  'play at GitLab': { action: 'play', done: 'started', undone: WAITS },
} as const
type Asked = keyof typeof ASKED

/** When the process is killed, seen from its call: before the source has it, before its answer, or right after that. */
const [ARRIVED, DONE, ANSWERED] = [
  ['arrived', 'drop', false],
  ['done', 'drop', true],
  ['answered', 'pass', true],
] as const satisfies [Moment, Verdict, isDone: boolean][]

type Case = readonly [asked: Asked, moment: typeof ARRIVED | typeof DONE | typeof ANSWERED]

// All three moments are one path for all actions: each action has one case or two, on either database.
const ON_SQLITE: readonly Case[] = [
  ['approve at GitHub', ARRIVED],
  ['reject at GitHub', DONE],
  ['play at GitLab', ANSWERED],
]
const ON_POSTGRES: readonly Case[] = [
  ['play at GitLab', ARRIVED],
  ['approve at GitLab', DONE],
]

let server: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => ('impossible' in server ? undefined : server[Symbol.asyncDispose]()))

test(
  'approve, reject and run are sent at most once, and what came of them is said',
  async () => {
    const database = 'impossible' in server ? null : await server.createDatabase()
    await Promise.all([expectOnceEach(null, ON_SQLITE), database && expectOnceEach(database, ON_POSTGRES)])
  },
  10 * LONG_MS,
)

async function expectOnceEach(database: string | null, cases: readonly Case[]): Promise<void> {
  const bot = await openBot(database)
  await bot.start()
  await until('it has looked', () => bot.hasLooked(), LONG_MS)
  const expected: string[] = []
  for (const [asked, [moment, verdict, isDone]] of cases) {
    const number = bot.push(asked)
    const { action, done, undone } = ASKED[asked]
    const card = await untilCard(bot, ['Waiting', `#${number} `], ACTION_IDS[action])
    await bot.openForm(card.ts, action)
    const hasDied = bot.killAt(moment, verdict)
    void bot.submit().catch(() => {})
    await until(`${action} at ${moment} is killed`, hasDied, LONG_MS)
    await bot.start()
    expected.push(`${action} ${isDone ? 'confirmed' : 'unconfirmed'}`)
    const said = isDone ? done : undone
    await until(
      `what came of it is said: ${asked}, ${moment}`,
      () => threadOf(bot, card).some((line) => line.includes(said)),
      LONG_MS,
    )
    expect(threadOf(bot, card).filter((line) => line.includes(' requested by '))).toHaveLength(1)
  }
  expect(await bot.requests()).toEqual(expected)
  expect(bot.writes()).toHaveLength(expected.length)
}

async function openBot(database: string | null) {
  const time = { since: Date.now(), times: TIMES }
  if (database !== null) await hasten(database, time)
  const clock = fastClock(time)
  const [github, gitlab] = [await startGithub({ clock }), createSandboxGitlab({ clock })]
  await gitlab.start()
  const slack = createSandboxSlack({ clock, rates: 'off', ackTimeoutMs: 100_000 })
  await slack.start()
  const writes: string[] = []
  let hear: (moment: Moment, passage: Passage) => Verdict = () => 'pass'
  const watch = (moment: Moment, passage: Passage): Verdict => {
    if (passage.method !== 'POST' || !WRITE.test(passage.path)) return 'pass'
    if (moment === 'arrived') writes.push(passage.path)
    return hear(moment, passage)
  }
  const toGithub = await openTap({ clock, watch, target: async () => github.url })
  const toGitlab = await openTap({ clock, watch, target: async () => new URL(gitlab.address().url).origin })
  const folder = testFolder()
  const settings = settingsWith(folder, {
    NODE_OPTIONS: `--import ${PRELOAD}`,
    [FAST_TIME]: toText(time),
    SLACK_API_URL: slack.apiUrl,
    WEBHOOK_SECRET: undefined,
    GITHUB_API_URL: github.address().apiUrl.replace(github.url, toGithub.url),
    GITHUB_TOKEN: github.address().token,
    GITHUB_REPOSITORIES: 'acme/web',
    GITLAB_URL: gitlab.address().url.replace(new URL(gitlab.address().url).origin, toGitlab.url),
    GITLAB_TOKEN: gitlab.address().token,
    GITLAB_PROJECTS: 'acme/web',
    SUBSCRIPTIONS_FILE: writeSubscriptions(folder, [
      `{ channel: ${CHANNELS.builds}, project: all, branch: '*', events: [waiting] }`,
    ]),
    ...(database !== null && { DATABASE_URL: database }),
  })
  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    database === null ? rowsOf(folder, sql) : ((await queryOnce(database, sql)) as Record<string, unknown>[])
  let running: ReturnType<typeof startProcess> | null = null
  onTestFinished(async () => {
    running?.kill('SIGKILL')
    await running?.exit
    await Promise.all([slack.stop(), gitlab.stop(), toGithub.close(), toGitlab.close()])
  })
  const user = PEOPLE.lin
  const topOf = (shown: SandboxSlack) => JSON.stringify(shown.views.stack(user).at(-1) ?? '')
  let looked = false
  return {
    slack,
    writes: () => writes,
    hasLooked() {
      void query("select 1 from job where name in ('github acme/web', 'gitlab acme/web')").then(
        (rows) => (looked = rows.length === 2),
        () => {},
      )
      return looked
    },
    async start() {
      running = startProcess(folder, settings)
      slack.connectBot(`${await running.url()}/slack/events`)
    },
    /** @returns the number of a new build that waits for this action */
    push(asked: Asked): string {
      if (asked.endsWith('GitHub'))
        return `${pushed(github, { environments: [{ name: 'production', mayReview: true }] }).number}`
      // It needs a second approval, so that it still waits after ours.
      gitlab.protect('acme/web', 'production', [{ role: 'Maintainer', required: 2 }])
      const job = asked === 'play at GitLab' ? { manual: true } : { environment: 'production' }
      const { id, iid } = pushedPipeline(gitlab, { outcome: 'none', user: 'Ada', jobs: [{ name: 'deploy', ...job }] })
      gitlab.advance(id, 'manual')
      return String(iid)
    },
    async openForm(ts: string, action: 'approve' | 'reject' | 'play') {
      const press = { user, channel: CHANNELS.builds, ts, actionId: ACTION_IDS[action] }
      const isOpen = () => topOf(slack).includes(`"callback_id":"${GATE_CALLBACK_ID}"`)
      // Slack's three seconds for a form are short in fast time.
      for (let tries = 0; tries < TRIES && !isOpen(); tries++) {
        await slack.people.click(press)
        await until('the form is open', isOpen, FORM_MS).catch(() => {})
      }
      expect(isOpen()).toBe(true)
    },
    submit: () => slack.people.submitView({ user }),
    /** Kills the process at this moment of its next write. @returns whether it has died */
    killAt(moment: Moment, verdict: Verdict): () => boolean {
      let hasDied = false
      hear = (now) => {
        if (now !== moment) return 'pass'
        hear = () => 'pass'
        running!.kill('SIGKILL')
        void running!.exit.then(() => (hasDied = true))
        return verdict
      }
      return () => hasDied
    },
    requests: async () =>
      (await query('select action, state from request order by asked_at')).map(
        ({ action, state }) => `${String(action)} ${String(state)}`,
      ),
  }
}
