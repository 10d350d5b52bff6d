import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { databasePath, until } from '../support/app.ts'
import { namesOf, storeProjects } from '../support/many-projects.ts'
import { queryOnce, startPostgres } from '../support/postgres.ts'
import type { Process } from '../support/process.ts'
import { openStoreAt } from '../support/stores.ts'
import { answersTo, openScene, press, reload, startBot, type, type Scene } from '../support/world.ts'

const { web: WEB, ops: OPS, secret: SECRET } = CHANNELS
const { ada, grace, lin } = PEOPLE

/** `PROJECTS=50000` alone on its machine is what docs/security.md promises; fewer are filled in sooner. */
const PROJECTS = Number(process.env['PROJECTS'] ?? 10_000)
/** Beside other tests, everything takes up to twice as long. */
const SLOWED = process.env['PROJECTS'] === undefined ? 2 : 1
const HELD_MS_MAX = SLOWED * 50
const ANSWERED_MS_MAX = SLOWED * 300

/** The best of so many tries counts: the machine may have other work. */
const TRIES = 8
const PAUSE_MS = 100
const SETTLES_MS = 3_000
const UNANSWERED_MS = 20_000

const LOOP_DELAY = fileURLToPath(new URL('../support/loop-delay.ts', import.meta.url))

const server = await startPostgres()

const DATABASES: [name: string, open: () => Promise<string | null | undefined>][] = [
  ['SQLite', async () => null],
  ['PostgreSQL', async () => ('impossible' in server ? undefined : server.createDatabase())],
]

describe.each(DATABASES)(`with ${PROJECTS} projects in %s`, (_, openDatabase) => {
  it(
    'everything that people ask for is answered soon, and holds up nothing else',
    { timeout: 900_000 },
    async ({ skip }) => {
      const url = await openDatabase()
      if (url === undefined) return skip('impossible' in server ? server.impossible : '')
      const scene = await openFilled(url)
      const bot = await startBot(scene)
      // Its first jobs, such as reading CI's list, are done then.
      await sleep(SETTLES_MS)
      const measured: Measured[] = []
      for (const ask of asksOf(scene)) measured.push(await bestOf(scene, bot, ask))
      console.info(
        measured
          .map(
            ({ what, ms, heldMs }) =>
              `${ms.toFixed(0).padStart(5)} ms, held ${heldMs.toFixed(0).padStart(3)} ms: ${what}`,
          )
          .join('\n'),
      )
      expect(measured.filter(({ ms, heldMs }) => ms > ANSWERED_MS_MAX || heldMs > HELD_MS_MAX)).toEqual([])
      expect(bot.output()).not.toMatch(/"level":(?:50|60)/)
    },
  )
})

/** #web follows some projects by name, #secret another one, #ops all that no other channel follows. */
async function openFilled(url: string | null): Promise<Scene> {
  const few = [0, 1, 2, 150, 750, 1_501].map((n) => `{ channel: ${WEB}, project: '${namesOf(n).fullName}' }`)
  const scene = await openScene({
    subscriptions: [...few, `{ channel: ${SECRET}, project: 'acme/p-9' }`],
    settings: {
      DEFAULT_CHANNEL: OPS,
      CI_ADMINS: grace,
      ...(url && { DATABASE_URL: url }),
      NODE_OPTIONS: `--import=${LOOP_DELAY}`,
    },
  })
  scene.settings = { ...scene.settings, LOOP_DELAY_FILE: join(scene.folder, 'loop-delay.json') }
  const store = openStoreAt(url ?? `sqlite:${databasePath(scene.folder)}`)
  await store.migrate()
  await storeProjects(store, PROJECTS)
  await store.write((tx) => tx.claimHandle('ada', ada, Date.now()))
  await store.close()
  // The server does so itself after a while.
  if (url) await queryOnce(url, 'vacuum analyze')
  return scene
}

interface Ask {
  what: string
  /** puts on the screen what is pressed */
  before?: () => Promise<unknown>
  /** Asks for something, and resolves when the answer is there. */
  ask: () => Promise<unknown>
}

function asksOf(scene: Scene): Ask[] {
  const { people, views, counters } = scene.slack
  const typed = async (line: string, channel: string = OPS, user: string = ada) => {
    const before = answersTo(scene, user, channel).length
    await type(scene, user, line, channel)
    await untilSoon(() => answersTo(scene, user, channel).length > before)
  }
  const pressed = (line: string, actionId: string): Ask => ({
    what: `${actionId} after ${line}`,
    before: () => typed(line),
    async ask() {
      const [card] = answersTo(scene, ada, OPS).slice(-1)
      const before = JSON.stringify(answersTo(scene, ada, OPS))
      await press(scene, ada, card!, actionId, OPS)
      await untilSoon(() => JSON.stringify(answersTo(scene, ada, OPS)) !== before)
    },
  })
  const home = async (user: string) => {
    const before = counters.calls('views.publish')
    await people.openHome(user)
    await untilSoon(() => counters.calls('views.publish') > before)
  }
  const searched = (value: string): Ask => ({
    what: `the menu of projects with "${value}"`,
    async before() {
      await home(ada)
      await people.clickInView({ user: ada, viewId: String(views.home(ada)?.['id']), actionId: 'home_follow' })
      await untilSoon(() => JSON.stringify(views.stack(ada).at(-1) ?? {}).includes('home_follow_channel'))
      const channel = { type: 'conversations_select', selected_conversation: OPS }
      await people.submitView({ user: ada, values: { home_follow_channel: { home_follow_channel: channel } } })
    },
    ask: () => people.suggest({ user: ada, actionId: 'subscribe_project', value }),
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
    { what: "an admin's Home", ask: () => home(grace) },
    searched('p-3'),
    searched('acme/p-4'),
    searched('nowhere'),
  ]
}

interface Measured {
  what: string
  /** until it was answered */
  ms: number
  heldMs: number
}

async function bestOf(scene: Scene, bot: Process, { what, before, ask }: Ask): Promise<Measured> {
  let best: Measured = { what, ms: Number.POSITIVE_INFINITY, heldMs: Number.POSITIVE_INFINITY }
  for (let n = 0; n < TRIES && (best.ms > ANSWERED_MS_MAX || best.heldMs > HELD_MS_MAX || n < 2); n++) {
    reload(scene)
    await before?.()
    await sleep(PAUSE_MS)
    await heldSince(scene, bot)
    const beganAt = performance.now()
    await ask()
    const ms = performance.now() - beganAt
    best = { what, ms: Math.min(best.ms, ms), heldMs: Math.min(best.heldMs, await heldSince(scene, bot)) }
  }
  return best
}

let asked = 0

/** For how long the bot's event loop was held at most since this was last asked (ms). */
async function heldSince({ settings }: Scene, bot: Process): Promise<number> {
  const read = () => {
    try {
      return JSON.parse(readFileSync(settings['LOOP_DELAY_FILE']!, 'utf8')) as { at: number; heldMs: number }
    } catch {
      return { at: 0, heldMs: 0 }
    }
  }
  const before = read().at
  bot.kill('SIGUSR2')
  const { heldMs } = await until(`the bot says how long its loop was held (${(asked += 1)})`, () => {
    const said = read()
    return said.at > before && said
  })
  return heldMs
}

async function untilSoon(claim: () => boolean): Promise<void> {
  const deadline = performance.now() + UNANSWERED_MS
  while (!claim()) {
    if (performance.now() > deadline) throw new Error('no answer')
    await sleep(1)
  }
}
