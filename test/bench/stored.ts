import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { asCount, asRatio, atMost, inMB, inMs, note, type Benchmark, type Row, type Stage } from './benchmark.ts'
import { DELIVERY_PATH, startBot } from './bot.ts'
import { deliveryBody, projectName } from './delivery.ts'
import { branchName, PROJECT } from './filled-database.ts'
import { cpuMs, residentMB } from './processes.ts'
import { channelId, claimOf, openSlack } from './slack.ts'
import { median } from './statistics.ts'
import { openWire, type Wire } from './wire.ts'

const SIZES = [1_000, 10_000, 100_000, 1_000_000]
/** After the start, before it counts as idle. */
const REST_MS = 3_000
const IDLE_MS = 10_000

/** A channel takes few posts at once: a round has one build for each, so that none has to wait. */
const CHANNELS = 100
const ROUNDS = 5
const FIRST_BUILD = 300_000_000

const RATIO_MAX = 1.2
const MB = 1_048_576
const MACHINE_GB = 16

export const stored: Benchmark = {
  name: 'stored',
  about: `Resident memory of the idle bot, and the cost of one more build: processor time of the bot from two deliveries over HTTP until the message is posted and recorded, and bytes of database. Rounds of ${CHANNELS} builds, alternating with the same on ${asCount(SIZES[0]!)} builds. The databases were filled in one go, so their pages are full and the first new builds split them; in a larger file fewer new builds share a page.`,
  async run(stage) {
    for (const size of SIZES) await stage.filled(size)
    const sides: Side[] = []
    for (const size of SIZES) sides.push(await open(stage, size))
    await sleep(REST_MS)
    const idle = await Promise.all(sides.map((side) => side.idle()))
    await Promise.all(sides.map((side) => side.round(0)))
    const costs = sides.map(() => [] as Cost[])
    for (let round = 1; round <= ROUNDS; round++)
      for (const [i, side] of sides.entries()) costs[i]!.push(await side.round(round))
    const results = sides.map((side, i) => side.result(idle[i]!, costs[i]!))
    for (const side of sides) await side.close()
    return [...results.flatMap((result) => rowsOf(result, results[0]!)), ...carriedRows(results[0]!)]
  },
}

interface Cost {
  cpuMs: number
  bytes: number
}

interface Idle {
  memoryMB: number
  /** CPU ms for each second of nothing to do */
  msPerS: number
}

interface Result extends Idle {
  builds: number
  databaseMB: number
  /** medians of the rounds, for one build */
  cpuMs: number
  bytes: number
}

/** Pages that are free and will be used again do not count. */
const USED_BYTES =
  'select (page_count - freelist_count) * page_size as n from pragma_page_count(), pragma_freelist_count(), pragma_page_size()'

type Side = Awaited<ReturnType<typeof open>>

async function open(stage: Stage, builds: number) {
  const database = await stage.filled(builds)
  const slack = await openSlack(CHANNELS, { rates: 'off' })
  const bot = await startBot(stage, {
    name: `stored-${builds}`,
    slackUrl: slack.sandbox.apiUrl,
    database,
    subscriptions: Array.from({ length: CHANNELS }, (_, i) => ({
      channel: channelId(i + 1),
      project: projectName(PROJECT + i),
      events: ['success', 'failed'],
    })),
  })
  const db = new DatabaseSync(database, { readOnly: true })
  const bytes = db.prepare(USED_BYTES)
  const size = () => (bytes.get() as { n: number }).n
  const databaseMB = size() / MB
  const recorded = db.prepare("select 1 from message where key = ? and state = 'posted'")
  // Others who used the database may have left something to tell elsewhere.
  const posted = () => slack.writes.filter(({ channel }) => channel.startsWith(channelId(0).slice(0, -3)))

  return {
    async idle(): Promise<Idle> {
      const [beganAt, beganCpuMs] = [performance.now(), cpuMs(bot.pid)]
      await sleep(IDLE_MS)
      const msPerS = ((cpuMs(bot.pid) - beganCpuMs) / (performance.now() - beganAt)) * 1_000
      return { memoryMB: residentMB(bot.pid), msPerS }
    },
    async round(round: number): Promise<Cost> {
      const before = { cpuMs: cpuMs(bot.pid), bytes: size(), posted: posted().length }
      // One that says nothing for long is closed.
      const wire = await openWire(bot.port, DELIVERY_PATH)
      for (let i = 0; i < CHANNELS; i++) {
        const project = PROJECT + i
        const build = { project, build: FIRST_BUILD + round * CHANNELS + i, branch: branchName(project) }
        for (const word of ['initiated', i % 4 === 0 ? 'error' : 'success']) await deliver(wire, build, word)
      }
      wire.close()
      await slack.until(() => (posted().length >= before.posted + CHANNELS ? true : undefined))
      for (const key of posted().slice(before.posted).map(claimOf)) while (!recorded.get(key)) await sleep(1)
      const after = { cpuMs: cpuMs(bot.pid), bytes: size() }
      return { cpuMs: (after.cpuMs - before.cpuMs) / CHANNELS, bytes: (after.bytes - before.bytes) / CHANNELS }
    },
    result: (idle: Idle, costs: readonly Cost[]): Result => ({
      ...idle,
      builds,
      databaseMB,
      cpuMs: median(costs.map((cost) => cost.cpuMs)),
      bytes: median(costs.map((cost) => cost.bytes)),
    }),
    async close(): Promise<void> {
      db.close()
      await bot.stop()
      await slack.sandbox.stop()
    },
  }

  async function deliver(wire: Wire, build: Parameters<typeof deliveryBody>[0], word: string): Promise<void> {
    const status = await wire.post(deliveryBody(build, word))
    if (status !== 202) throw new Error(`a delivery was answered ${status}`)
  }
}

function rowsOf(result: Result, least: Result): Row[] {
  const where = `${asCount(result.builds)} builds stored`
  const values = [
    note(`${where}: database`, inMB(result.databaseMB)),
    note(`${where}: memory, idle`, inMB(result.memoryMB)),
    note(`${where}: processor time a build`, inMs(result.cpuMs)),
    note(`${where}: database a build`, `${asCount(bytesEach(result))} bytes`),
    note(`${where}: database a build more, its pages being full`, `${asCount(result.bytes)} bytes`),
  ]
  if (result === least) return values
  const ratio = (what: string, value: number, of: number) =>
    atMost(`${where}: ${what}, ratio`, value / of, RATIO_MAX, asRatio)
  return [
    ...values,
    ratio('memory, idle', result.memoryMB, least.memoryMB),
    ratio('processor time a build', result.cpuMs, least.cpuMs),
    ratio('database a build', bytesEach(result), bytesEach(least)),
  ]
}

const bytesEach = ({ databaseMB, builds }: Result): number => (databaseMB * MB) / builds

const BUILDS_PER_DAY = 1_000
const DAY_S = 24 * 60 * 60

/** A process for each workspace: how many such processes a machine carries, the whole day counted as one. */
const carriedRows = ({ memoryMB, msPerS, cpuMs: cpu }: Result): Row[] => [
  note('processor time of the idle bot, in each second', inMs(msPerS)),
  note(
    `bots on one core, each with ${asCount(BUILDS_PER_DAY)} builds a day`,
    asCount(1_000 / (msPerS + (cpu * BUILDS_PER_DAY) / DAY_S)),
  ),
  note(`bots in ${MACHINE_GB} GB of memory`, asCount((MACHINE_GB * 1_024) / memoryMB)),
]
