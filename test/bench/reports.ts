import { setTimeout as sleep } from 'node:timers/promises'
import { startBaseline } from './acknowledged.ts'
import { asCount, asRatio, atLeast, atMost, inMs, note, type Benchmark, type Row } from './benchmark.ts'
import { DELIVERY_PATH, REPORT_PATH, startBot, untilIngested } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import { LOAD_CORE, type ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
import { median } from './statistics.ts'

/** Ten a second are 36,000 an hour. A hundred are as many as 500 deliveries a second would bring. */
const REPORTS_PER_SECOND = [10, 100]
const REPORT_BYTES = 20 * 1_024
const ROUNDS = 6
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
  about: `Deliveries acknowledged beside a stream of test reports of ${REPORT_BYTES / 1_024} KiB, in turns (medians of ${ROUNDS} rounds): how many a second over ${CONNECTIONS} connections, and the p99 at ${PER_SECOND} a second (open loop). In one turn the bot gets the reports; in the other a bare server does, on the load generators' core, because making and sending them slows the other generator.`,
  async run(stage) {
    const slack = await openSlack(0)
    const bot = await startBot(stage, { name: 'reports', slackUrl: slack.sandbox.apiUrl })
    const bare = await startBaseline(stage, { name: 'reports-bare', args: ['bare'], cores: String(LOAD_CORE) })
    const servers = { bot, bare }
    await load(bot, bot, { perSecond: PER_SECOND, reportsPerSecond: REPORTS_PER_SECOND[0]! })
    const steady: Round[][] = []
    for (const reportsPerSecond of REPORTS_PER_SECOND)
      steady.push(await measure(servers, { perSecond: PER_SECOND, reportsPerSecond }))
    // Last: what it leaves to ingest would slow the others.
    const full = await measure(servers, { reportsPerSecond: REPORTS_PER_SECOND.at(-1)! })
    await Promise.all([bot.stop(), bare.stop(), slack.sandbox.stop()])
    const all = [full, ...steady].flat().flatMap((round) => Object.values(round))
    const errors = all.reduce((sum, { deliveries, reported }) => sum + deliveries.errors + reported.errors, 0)
    return [
      ...steady.flatMap((rounds, i) => p99Rows(`${REPORTS_PER_SECOND[i]} reports/s`, rounds)),
      ...rateRows(`${REPORTS_PER_SECOND.at(-1)} reports/s`, full),
      atMost('errors', errors, 0, asCount),
    ]
  },
}

/** The median ratio of the two turns of a round: the machine is not as fast in each. */
const ratioOf = (rounds: readonly Round[], measureOf: (to: keyof Round) => (round: Round) => number): number =>
  median(rounds.map((round) => measureOf('bot')(round) / measureOf('bare')(round)))

function p99Rows(beside: string, rounds: readonly Round[]): Row[] {
  const p99 = (to: keyof Round) => (round: Round) => round[to].deliveries.p99Ms
  return [
    note(`${beside}: p99 acknowledgement, the reports going elsewhere`, inMs(median(rounds.map(p99('bare'))))),
    note(`${beside}: p99 acknowledgement`, inMs(median(rounds.map(p99('bot'))))),
    atMost(`${beside}: p99 acknowledgement, ratio`, ratioOf(rounds, p99), P99_RATIO_MAX, asRatio),
  ]
}

function rateRows(beside: string, rounds: readonly Round[]): Row[] {
  const rateOf = (to: keyof Round) => (round: Round) => rate(round[to].deliveries)
  return [
    note(`${beside}: acknowledged/s, the reports going elsewhere`, asCount(median(rounds.map(rateOf('bare'))))),
    note(`${beside}: acknowledged/s`, asCount(median(rounds.map(rateOf('bot'))))),
    atLeast(`${beside}: acknowledged/s, ratio`, ratioOf(rounds, rateOf), RATE_RATIO_MIN, asRatio),
  ]
}

const rate = ({ accepted, elapsedMs }: LoadResult): number => (accepted / elapsedMs) * 1_000

interface Loads {
  deliveries: LoadResult
  reported: LoadResult
}

/** The loads of one round, by who gets the reports. */
type Round = Record<'bot' | 'bare', Loads>

/** `perSecond`: deliveries; left out: as many as the bot answers. */
interface Pace {
  perSecond?: number
  reportsPerSecond: number
}

async function measure({ bot, bare }: Record<keyof Round, ServerProcess>, pace: Pace): Promise<Round[]> {
  const rounds: Round[] = []
  for (let n = 0; n < ROUNDS; n++) {
    // Either comes first in half of the rounds.
    const early = n % 2 === 0 ? await load(bot, bare, pace) : null
    const ours = await load(bot, bot, pace)
    rounds.push({ bot: ours, bare: early ?? (await load(bot, bare, pace)) })
  }
  return rounds
}

let firstBuild = 1

/** For one round, deliveries and reports of the same builds. At a steady pace, the next begins with no backlog. */
async function load(bot: ServerProcess, reportsTo: ServerProcess, pace: Pace): Promise<Loads> {
  firstBuild += 1_000_000
  const { perSecond, reportsPerSecond } = pace
  const reported = sendLoad({
    port: reportsTo.port,
    path: REPORT_PATH,
    firstBuild,
    connections: REPORT_CONNECTIONS,
    perSecond: reportsPerSecond,
    reportBytes: REPORT_BYTES,
    forMs: ROUND_MS + LEAD_MS,
  })
  await sleep(LEAD_MS)
  const deliveries = await sendLoad({
    port: bot.port,
    path: DELIVERY_PATH,
    firstBuild,
    connections: CONNECTIONS,
    forMs: ROUND_MS,
    ...(perSecond === undefined ? {} : { perSecond }),
  })
  const loads = { deliveries, reported: await reported }
  if (perSecond !== undefined) await untilIngested(bot, INGESTED_MAX_MS)
  return loads
}
