import { setTimeout as sleep } from 'node:timers/promises'
import { startBaseline } from './acknowledged.ts'
import { asCount, asRatio, atLeast, atMost, inMs, note, type Benchmark } from './benchmark.ts'
import { DELIVERY_PATH, REPORT_PATH, startBot, untilIngested } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import { LOAD_CORE, type ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
import { median } from './statistics.ts'

const REPORTS_PER_SECOND = 100
const REPORT_BYTES = 20 * 1_024
const ROUNDS = 5
const ROUND_MS = 5_000
/** The two load generators share a core: the start of the one must not delay what the other measures. */
const LEAD_MS = 500
const CONNECTIONS = 64
const REPORT_CONNECTIONS = 8
/** For the p99: a load that the bot carries. */
const PER_SECOND = 500
const INGESTED_MAX_MS = 60_000

const RATE_RATIO_MIN = 0.9
const P99_RATIO_MAX = 1.2

export const reports: Benchmark = {
  name: 'reports',
  about: `Deliveries acknowledged beside a stream of test reports (${REPORTS_PER_SECOND} a second of ${REPORT_BYTES / 1_024} KiB each), in turns (medians of ${ROUNDS} rounds): how many a second over ${CONNECTIONS} connections, and the p99 at ${PER_SECOND} a second (open loop). In one turn the bot gets the reports; in the other a bare server does, on the load generators' core, because making and sending them slows the other generator.`,
  async run(stage) {
    const slack = await openSlack(0)
    const bot = await startBot(stage, { name: 'reports', slackUrl: slack.sandbox.apiUrl })
    const bare = await startBaseline(stage, { name: 'reports-bare', args: ['bare'], cores: String(LOAD_CORE) })
    const servers = { bot, bare }
    await load(bot, { perSecond: PER_SECOND }, bot)
    const steady = await measure(servers, { perSecond: PER_SECOND })
    // Last: what it leaves to ingest would slow the others.
    const full = await measure(servers, {})
    await Promise.all([bot.stop(), bare.stop(), slack.sandbox.stop()])
    const rates = (to: keyof Round) => median(full.map((round) => rate(round[to].deliveries)))
    const p99 = (to: keyof Round) => median(steady.map((round) => round[to].deliveries.p99Ms))
    const all = [...full, ...steady].flatMap((round) => Object.values(round))
    const errors = all.reduce((sum, { deliveries, reported }) => sum + deliveries.errors + reported.errors, 0)
    return [
      note('acknowledged/s: reports go elsewhere', asCount(rates('bare'))),
      note('acknowledged/s: the bot gets the reports', asCount(rates('bot'))),
      atLeast('acknowledged/s: ratio', rates('bot') / rates('bare'), RATE_RATIO_MIN, asRatio),
      note('p99 acknowledgement: reports go elsewhere', inMs(p99('bare'))),
      note('p99 acknowledgement: the bot gets the reports', inMs(p99('bot'))),
      atMost('p99 acknowledgement: ratio', p99('bot') / p99('bare'), P99_RATIO_MAX, asRatio),
      note('reports taken a second', asCount(median(steady.map((round) => rate(round.bot.reported))))),
      atMost('errors', errors, 0, asCount),
    ]
  },
}

const rate = ({ accepted, elapsedMs }: LoadResult): number => (accepted / elapsedMs) * 1_000

interface Loads {
  deliveries: LoadResult
  reported: LoadResult
}

/** The loads of one round, by who gets the reports. */
type Round = Record<'bot' | 'bare', Loads>

async function measure({ bot, bare }: Record<keyof Round, ServerProcess>, pace: { perSecond?: number }) {
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ bare: await load(bot, pace, bare), bot: await load(bot, pace, bot) })
  return rounds
}

let firstBuild = 1

/** For one round, deliveries and reports of the same builds. At a steady pace, the next begins with no backlog. */
async function load(bot: ServerProcess, pace: { perSecond?: number }, reportsTo: ServerProcess): Promise<Loads> {
  firstBuild += 1_000_000
  const stream = { connections: REPORT_CONNECTIONS, perSecond: REPORTS_PER_SECOND, reportBytes: REPORT_BYTES }
  const reporting = { port: reportsTo.port, path: REPORT_PATH, firstBuild, ...stream, forMs: ROUND_MS + LEAD_MS }
  const reported = sendLoad(reporting)
  await sleep(LEAD_MS)
  const delivering = {
    port: bot.port,
    path: DELIVERY_PATH,
    firstBuild,
    connections: CONNECTIONS,
    forMs: ROUND_MS,
    ...pace,
  }
  const results = await Promise.all([sendLoad(delivering), reported])
  if (pace.perSecond !== undefined) await untilIngested(bot, INGESTED_MAX_MS)
  return { deliveries: results[0], reported: results[1] }
}
