import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createSandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { namesOf, storeProjects } from '../support/many-projects.ts'
import { queryOnce, startOwnPostgres } from '../support/postgres.ts'
import { openStoreAt } from '../support/stores.ts'
import {
  asCount,
  asRatio,
  atMost,
  below,
  exactly,
  inMs,
  note,
  type Benchmark,
  type Row,
  type Stage,
} from './benchmark.ts'
import { startBot } from './bot.ts'
import { ALL_CORES, pinSelf, type ServerProcess } from './processes.ts'
import { openSlack, type Slack } from './slack.ts'
import { median } from './statistics.ts'

const FEW = 50
const MANY = 50_000

const ROUNDS = 5
const PAUSE_MS = 50
/** Its first jobs, such as reading CI's list, are done then. */
const SETTLES_MS = 3_000
const UNANSWERED_MS = 20_000
const LOOK_MS = 1

const ANSWER_MAX_MS = 300
const HELD_MAX_MS = 100
const RATIO_MAX = 1.5

const LOOP_DELAY = fileURLToPath(new URL('../support/loop-delay.ts', import.meta.url))

const { web: WEB, ops: OPS, secret: SECRET } = CHANNELS
const { ada, grace, lin } = PEOPLE

export const people: Benchmark = {
  name: 'people',
  about: `Everything that people ask for (commands, buttons, menus, Home) with ${asCount(MANY)} projects, beside the same with ${FEW}: time until the answer, and the longest hold of the event loop meanwhile. Medians of ${ROUNDS} rounds, which alternate.`,
  async run(stage) {
    pinSelf(ALL_CORES)
    const server = await startOwnPostgres({ fsync: 'on' })
    pinSelf()
    const rows = await rowsOf(stage, 'SQLite', (projects) => `sqlite:${join(stage.folder, `people-${projects}.db`)}`)
    if ('impossible' in server) return [...rows, note('PostgreSQL', `not measured: ${server.impossible}`)]
    await using _ending = server
    return [...rows, ...(await rowsOf(stage, 'PostgreSQL', () => server.createDatabase()))]
  },
}

async function rowsOf(
  stage: Stage,
  database: string,
  addressOf: (projects: number) => string | Promise<string>,
): Promise<Row[]> {
  const few = await open(stage, `${database}-${FEW}`, await addressOf(FEW), FEW)
  const many = await open(stage, `${database}-${MANY}`, await addressOf(MANY), MANY)
  const asks = few.asks.map(({ what }, i) => ({ what, few: [] as Measured[], many: [] as Measured[], i }))
  for (let round = 0; round < ROUNDS; round++)
    for (const ask of asks) {
      ask.few.push(await few.measure(ask.i))
      ask.many.push(await many.measure(ask.i))
    }
  const errors = few.errors() + many.errors()
  await Promise.all([few.close(), many.close()])

  const measured = asks.map((ask) => ({
    what: ask.what,
    few: median(ask.few.map(({ ms }) => ms)),
    many: median(ask.many.map(({ ms }) => ms)),
    heldMs: median(ask.many.map(({ heldMs }) => heldMs)),
  }))
  for (const { what, heldMs, ...ask } of measured)
    stage.say(`  ${inMs(ask.few)} → ${inMs(ask.many)}, held ${inMs(heldMs)}: ${what}`)
  const slowest = measured.toSorted((a, b) => b.many - a.many)[0]!
  return [
    note(`${database}: an answer with ${FEW} projects, median`, inMs(median(measured.map((ask) => ask.few)))),
    note(`${database}: an answer with ${asCount(MANY)}, median`, inMs(median(measured.map((ask) => ask.many)))),
    atMost(`${database}: ratio`, median(measured.map((ask) => ask.many / ask.few)), RATIO_MAX, asRatio),
    below(`${database}: the slowest answer with ${asCount(MANY)}`, slowest.many, ANSWER_MAX_MS, inMs),
    note(`${database}: that is`, slowest.what),
    below(
      `${database}: event loop held, at most`,
      Math.max(...measured.map(({ heldMs }) => heldMs)),
      HELD_MAX_MS,
      inMs,
    ),
    exactly(`${database}: errors logged`, errors, 0),
  ]
}

interface Measured {
  /** until it was answered */
  ms: number
  heldMs: number
}

/** #web follows some projects by name, #secret another one, #ops all that no other channel follows. */
async function open(stage: Stage, name: string, url: string, projects: number) {
  stage.say(`  ${name}: filling the database`)
  const store = openStoreAt(url)
  await store.migrate()
  await storeProjects(store, projects)
  await store.write((tx) => tx.claimHandle('ada', ada, Date.now()))
  await store.close()
  // The server does so itself after a while.
  if (url.startsWith('postgres:')) await queryOnce(url, 'vacuum analyze')

  const [slack, ci] = [await openSlack(0, { rates: 'off' }), createSandboxCi()]
  await ci.start()
  const delayFile = join(stage.folder, `people-${name}.json`)
  const bot = await startBot(stage, {
    name: `people-${name}`,
    slackUrl: slack.sandbox.apiUrl,
    settings: {
      ...botSettings(ci),
      DATABASE_URL: url,
      DEFAULT_CHANNEL: OPS,
      CI_ADMINS: grace,
      NODE_OPTIONS: `--import=${LOOP_DELAY}`,
      LOOP_DELAY_FILE: delayFile,
    },
    subscriptions: [
      ...[0, 1, 2, 150, 750, 1_501].map((n) => ({ channel: WEB, project: namesOf(n).fullName })),
      { channel: SECRET, project: 'acme/p-9' },
    ],
  })
  slack.sandbox.connectBot(`http://127.0.0.1:${bot.port}/slack/events`)
  await sleep(SETTLES_MS)
  const asks = asksOf(slack)
  return {
    asks,
    async measure(i: number): Promise<Measured> {
      const { before, ask } = asks[i]!
      slack.sandbox.workspace.ephemerals = []
      await before?.()
      await sleep(PAUSE_MS)
      await heldSince(bot, delayFile)
      const askedAt = performance.now()
      await ask()
      const ms = performance.now() - askedAt
      return { ms, heldMs: await heldSince(bot, delayFile) }
    },
    errors: (): number =>
      readFileSync(join(stage.folder, `people-${name}.log`), 'utf8').match(/"level":(?:50|60)\b/g)?.length ?? 0,
    async close(): Promise<void> {
      await bot.stop()
      await Promise.all([slack.sandbox.stop(), ci.stop()])
    },
  }
}

interface Ask {
  what: string
  /** puts on the screen what is pressed */
  before?: () => Promise<unknown>
  /** Asks for something, and resolves when the answer is there. */
  ask: () => Promise<unknown>
}

function asksOf({ sandbox }: Slack): Ask[] {
  const { views, counters } = sandbox
  const answers = (user: string, channel: string) => sandbox.ephemerals(channel, user)
  const typed = async (line: string, channel: string = OPS, user: string = ada) => {
    const before = answers(user, channel).length
    const [command = '', ...words] = line.split(' ')
    await sandbox.people.runCommand({ user, channel, command, text: words.join(' ') })
    await until(() => answers(user, channel).length > before)
  }
  const pressed = (line: string, actionId: string): Ask => ({
    what: `${actionId} after ${line}`,
    before: () => typed(line),
    async ask() {
      const shown = () => JSON.stringify(answers(ada, OPS))
      const before = shown()
      const { ts } = answers(ada, OPS).at(-1)!.message
      await sandbox.people.click({ user: ada, channel: OPS, ts, actionId })
      await until(() => shown() !== before)
    },
  })
  const home = async (user: string) => {
    const before = counters.calls('views.publish')
    await sandbox.people.openHome(user)
    await until(() => counters.calls('views.publish') > before)
  }
  const searched = (value: string): Ask => ({
    what: `the menu of projects with "${value}"`,
    async before() {
      await sandbox.people.runCommand({ user: ada, channel: OPS, command: '/ci', text: 'subscribe' })
      await until(() => JSON.stringify(views.stack(ada).at(-1) ?? {}).includes('subscribe_project'))
    },
    ask: () => sandbox.people.suggest({ user: ada, actionId: 'subscribe_project', value }),
  })
  const lines: [line: string, channel?: string, user?: string][] = [
    ['/ci', OPS],
    ['/ci', WEB],
    ['/ci', SECRET, lin],
    ['/ci status', OPS],
    ['/ci status', WEB],
    ['/ci status acme/p-300'],
    ['/ci status p-300'],
    ['/ci status r-1501'],
    ['/ci status acme/p-300 main'],
    ['/ci status p-30'],
    ['/ci status nowhere-near'],
    ['/ci status 1300'],
    ['/ci status acme'],
    ['/ci list'],
    ['/ci list 3000'],
    ['/ci list g-4'],
    ['/ci list nowhere'],
    ['/ci list pro 2000'],
    ['/ci red', OPS],
    ['/ci red', WEB],
    ['/ci red acme/p-300'],
    ['/ci on it', OPS],
    ['/ci let go #100300'],
    ['/ci why', OPS],
    ['/ci why', WEB],
    ['/ci why #100300'],
    ['/ci stop'],
    ['/ci stop p-nothing'],
    ['/ci restart'],
    ['/ci restart nowhere'],
    ['/ci restart acme'],
    ['/ci badge nowhere'],
    ['/ci flaky', OPS],
    ['/ci flaky', WEB],
    ['/ci flaky acme/p-300 90d'],
    ['/ci rules', WEB],
    ['/ci rules test acme/p-300 main', WEB],
    ['/ci rules test nowhere main', WEB],
    ['/ci unsubscribe nowhere', WEB],
    ['/ci subscribe nowhere', WEB],
    ['/ci digest now', WEB],
    ['/ci digest now', OPS],
    ['/ci import octo/r-1 octo/r-4 octo/r-7', OPS],
    ['/ci project nowhere', OPS, grace],
    ['/ci me', OPS],
    ['/ci doctor', OPS, grace],
  ]
  return [
    ...lines.map(([line, channel = OPS, user = ada]) => ({
      what: `${line} in ${channel}`,
      ask: () => typed(line, channel, user),
    })),
    pressed('/ci status acme', 'choose_1'),
    pressed('/ci restart acme', 'choose_1'),
    pressed('/ci list', 'list_next'),
    { what: "a person's Home", ask: () => home(ada) },
    searched('p-3'),
    searched('acme/p-4'),
    searched('nowhere'),
  ]
}

/** For how long the bot's event loop was held at most since this was last asked (ms). */
async function heldSince({ pid }: ServerProcess, file: string): Promise<number> {
  const read = () => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as { at: number; heldMs: number }
    } catch {
      return { at: 0, heldMs: 0 }
    }
  }
  const before = read().at
  process.kill(pid, 'SIGUSR2')
  await until(() => read().at > before)
  return read().heldMs
}

async function until(claim: () => boolean): Promise<void> {
  const deadline = performance.now() + UNANSWERED_MS
  while (!claim()) {
    if (performance.now() > deadline) throw new Error('no answer')
    await sleep(LOOK_MS)
  }
}
