import { setTimeout as sleep } from 'node:timers/promises'
import { asCount, asRatio, atLeast, atMost, inMs, note, type Benchmark } from './benchmark.ts'
import { DELIVERY_PATH, REPORT_PATH, startBot, untilIngested } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import type { ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
import { median } from './statistics.ts'

const REPORTS_PER_SECOND = 100
const REPORT_BYTES = 20 * 1_024
const ROUNDS = 5
const ROUND_MS = 2_500
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
  about: `Deliveries acknowledged beside a stream of test reports (${REPORTS_PER_SECOND} a second of ${REPORT_BYTES / 1_024} KiB each), and without it, in turns (medians of ${ROUNDS} rounds): how many a second over ${CONNECTIONS} connections, and the p99 at ${PER_SECOND} a second (open loop).`,
  async run(stage) {
    const slack = await openSlack(0)
    const bot = await startBot(stage, { name: 'reports', slackUrl: slack.sandbox.apiUrl })
    await load(bot, { perSecond: PER_SECOND }, true)
    const steady = await measure(bot, { perSecond: PER_SECOND })
    // Last: what it leaves to take in would slow the others.
    const full = await measure(bot, {})
    await Promise.all([bot.stop(), slack.sandbox.stop()])
    const rates = (of: 'alone' | 'beside') => median(full.map((round) => rate(round[of])))
    const p99 = (of: 'alone' | 'beside') => median(steady.map((round) => round[of].p99Ms))
    const all = [...full, ...steady].flatMap((round) => Object.values(round))
    return [
      note('acknowledged/s: without reports', asCount(rates('alone'))),
      note('acknowledged/s: beside reports', asCount(rates('beside'))),
      atLeast('acknowledged/s: ratio', rates('beside') / rates('alone'), RATE_RATIO_MIN, asRatio),
      note('p99 acknowledgement: without reports', inMs(p99('alone'))),
      note('p99 acknowledgement: beside reports', inMs(p99('beside'))),
      atMost('p99 acknowledgement: ratio', p99('beside') / p99('alone'), P99_RATIO_MAX, asRatio),
      note('reports taken a second', asCount(median(steady.map((round) => rate(round.reports))))),
      atMost(
        'errors',
        all.reduce((sum, { errors }) => sum + errors, 0),
        0,
        asCount,
      ),
    ]
  },
}

const rate = ({ accepted, elapsedMs }: LoadResult): number => (accepted / elapsedMs) * 1_000

interface Round {
  alone: LoadResult
  beside: LoadResult
  reports: LoadResult
}

async function measure(bot: ServerProcess, pace: { perSecond?: number }): Promise<Round[]> {
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const [alone] = await load(bot, pace, false)
    const [beside, reported] = await load(bot, pace, true)
    rounds.push({ alone, beside, reports: reported! })
  }
  return rounds
}

let firstBuild = 1

/** For one round, deliveries and perhaps reports of the same builds. At a steady pace, the next begins with no backlog. */
async function load(bot: ServerProcess, pace: { perSecond?: number }, withReports: boolean) {
  firstBuild += 1_000_000
  const order = { port: bot.port, firstBuild }
  const stream = { connections: REPORT_CONNECTIONS, perSecond: REPORTS_PER_SECOND, reportBytes: REPORT_BYTES }
  const reported = withReports ? sendLoad({ ...order, path: REPORT_PATH, ...stream, forMs: ROUND_MS + LEAD_MS }) : null
  if (withReports) await sleep(LEAD_MS)
  const deliveries = { ...order, path: DELIVERY_PATH, connections: CONNECTIONS, forMs: ROUND_MS, ...pace }
  const results = await Promise.all([sendLoad(deliveries), reported])
  if (pace.perSecond !== undefined) await untilIngested(bot, INGESTED_MAX_MS)
  return results
}
