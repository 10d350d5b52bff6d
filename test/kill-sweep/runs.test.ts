import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createSandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { createSandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { isOpen, isProjectRequest } from '../../src/domain/cards/request.ts'
import { settingsWith, testFolder, until } from '../support/app.ts'
import { startPostgres } from '../support/postgres.ts'
import { startProcess } from '../support/process.ts'
import { openStoreAt } from '../support/stores.ts'
import { FAST_TIME, fastClock, toText } from './fast-clock.ts'
import { hasten } from './stage.ts'

// A real process is killed around the moment when it starts a workflow, at a different moment for each command; and at
// different ones on each of the two databases.

const TIMES = 5
const MAX_MS = 180_000
const KNOWN_MS = 40_000
/** A command that does not come so far is killed at rest. */
const REACHED_MS = 20_000
const PRELOAD = new URL('fast-time.ts', import.meta.url).pathname
const WORKFLOW = 'on:\n  workflow_dispatch:\n    inputs:\n      command: { required: true }\njobs: {}\n'

/** When GitHub has this call, before its answer; or so many ms after the command was acknowledged. */
type Kill = RegExp | number

/** The file is read, the run is started, the run is read: then the request is recorded, called, and confirmed. */
const KILLS: readonly Kill[] = [/\/contents\//, /\/dispatches$/, /\/dispatches$/, /\/runs\/\d+$/, 20, 60]
const half = (which: 0 | 1) => KILLS.filter((_, n) => n % 2 === which)

let server: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => ('impossible' in server ? undefined : server[Symbol.asyncDispose]()))

test(
  'a process that is killed while it starts a workflow starts it at most once, and knows in the end what it did',
  async () => {
    const database = 'impossible' in server ? null : await server.createDatabase()
    await Promise.all([expectOnceEach(null, half(0)), database && expectOnceEach(database, half(1))])
  },
  MAX_MS,
)

async function expectOnceEach(databaseUrl: string | null, kills: readonly Kill[]): Promise<void> {
  const time = { since: Date.now(), times: TIMES }
  if (databaseUrl !== null) await hasten(databaseUrl, time)
  const clock = fastClock(time)
  let heard: (path: string) => void = () => {}
  const github = createSandboxGithub({ clock, watch: ({ path }) => heard(path) })
  const slack = createSandboxSlack({ clock, rates: 'off', ackTimeoutMs: 100_000 })
  await Promise.all([github.start(), slack.start()])
  onTestFinished(() => void Promise.all([github.stop(), slack.stop()]))
  github.setFile('acme/web', '.github/workflows/ci.yml', WORKFLOW)
  const folder = testFolder()
  const { apiUrl, token, webhookSecret } = github.address()
  const settings = settingsWith(folder, {
    NODE_OPTIONS: `--import ${PRELOAD}`,
    [FAST_TIME]: toText(time),
    SLACK_API_URL: slack.apiUrl,
    WEBHOOK_SECRET: undefined,
    DEFAULT_CHANNEL: CHANNELS.builds,
    GITHUB_API_URL: apiUrl,
    GITHUB_TOKEN: token,
    GITHUB_WEBHOOK_SECRET: webhookSecret,
    ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
  })
  const start = async () => {
    const bot = startProcess(folder, settings)
    const url = await bot.url()
    slack.connectBot(`${url}/slack/events`)
    github.setWebhookUrl(`${url}/webhooks/github`)
    await until('it is ready', async () => (await fetch(`${url}/readyz`)).ok)
    return bot
  }
  const url = databaseUrl ?? `sqlite:${join(folder, 'buildline.db')}`
  const requests = () =>
    withStore(url, async ({ read }) =>
      (await read.requestsAfter({ requestedAt: 0, id: '' }, 100)).filter(isProjectRequest),
    )
  const runsOf = (command: number) => github.state().runs.filter(({ inputs }) => inputs['command'] === String(command))

  const isKnown = () =>
    withStore(url, async ({ read }) => {
      const isAnswered = (await read.unansweredInteractions(1)).length === 0
      return isAnswered && !(await requests()).some(isOpen)
    })

  let bot = await start()
  github.push('acme/web', { outcome: 'success', ms: 0 })
  await until('the workflow is known', () =>
    withStore(url, async ({ read }) => (await read.listedAs(['acme/web ci'], 1)).length > 0),
  )
  for (const [command, kill] of kills.entries()) {
    const reached = Promise.withResolvers<void>()
    heard = (path) => {
      if (typeof kill === 'number' || !kill.test(path)) return
      bot.kill('SIGKILL')
      reached.resolve()
    }
    const text = `run acme/web CI@main command=${command}`
    const typed = await slack.people.runCommand({ user: PEOPLE.lin, channel: CHANNELS.builds, command: '/ci', text })
    expect(typed).toMatchObject({ status: 200 })
    if (typeof kill === 'number') await sleep(kill)
    else await Promise.race([reached.promise, sleep(REACHED_MS)])
    bot.kill('SIGKILL')
    await bot.exit
    heard = () => {}
    bot = await start()
    await until('it is known what became of it', isKnown, KNOWN_MS)
  }
  const counts = kills.map((_, command) => runsOf(command).length)
  expect(counts.every((count) => count <= 1)).toBe(true)
  // Later than a minute, nobody carries out what a dead process has left; else each is started.
  expect(counts.filter((count) => count === 1).length).toBeGreaterThan(kills.length / 2)
  const started = github.state().runs.flatMap(({ id, event }) => (event === 'workflow_dispatch' ? String(id) : []))
  const ends = (await requests()).map(({ state, newBuildId }) => `${state} ${newBuildId ?? 'nothing'}`)
  expect(ends.filter((end) => end !== 'unconfirmed nothing')).toEqual(started.map((id) => `confirmed ${id}`))
}

async function withStore<T>(url: string, work: (store: ReturnType<typeof openStoreAt>) => Promise<T>): Promise<T> {
  const store = openStoreAt(url)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
