import { join } from 'node:path'
import { startBaseline } from './acknowledged.ts'
import { asCount, asRatio, atMost, below, inMs, note, type Benchmark, type Row, type Stage } from './benchmark.ts'
import { DELIVERY_PATH, startBot, untilIngested } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import type { ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
import { median } from './statistics.ts'

const PER_SECOND = 500
const ROUNDS = 3
const ROUND_MS = 5_000
const CONNECTIONS = 64

/** Deliveries that wait for Slack before the first round. */
const BACKLOG = 6_000
const BACKLOG_MAX_MS = 40_000

/** How late the slow Slack answers; its posts are then never done within a second, as many as there are channels. */
const SLOW_MS = 3_000

const P99_MAX_MS = 50
const RATIO_MAX = 2

export const latency: Benchmark = {
  name: 'latency',
  about: `Time until a delivery is acknowledged, at ${PER_SECOND} deliveries a second (open loop) with a backlog waiting for Slack, beside a plain server that inserts each delivery and commits once a turn.`,
  async run(stage) {
    const [down, slow] = [await openSlack(0), await openSlack(0)]
    down.sandbox.faults.add({ kind: 'down' })
    slow.sandbox.faults.add({ kind: 'slow', ms: SLOW_MS })
    const bots = {
      'Slack down': await startBot(stage, { name: 'latency-down', slackUrl: down.sandbox.apiUrl }),
      'Slack slow': await startBot(stage, { name: 'latency-slow', slackUrl: slow.sandbox.apiUrl }),
    }
    const plain = await startBaseline(stage, {
      name: 'group-commit',
      args: ['group-commit', join(stage.folder, 'group-commit.db')],
    })
    for (const [name, bot] of Object.entries(bots)) await pileUp(stage, name, bot)
    const results = await measure({ plain, ...bots })
    await Promise.all([...Object.values(bots), plain].map((server) => server.stop()))
    await Promise.all([down.sandbox.stop(), slow.sandbox.stop()])
    const baseline = p99(results.get('plain')!)
    return [
      note('plain group-commit server: p99 acknowledgement', inMs(baseline)),
      ...Object.keys(bots).flatMap((name) => rowsOf(name, results.get(name)!, baseline)),
    ]
  },
}

let firstBuild = 1

const load = ({ port }: ServerProcess, amount: { count: number } | { forMs: number; perSecond: number }) => {
  firstBuild += 1_000_000
  return sendLoad({ port, path: DELIVERY_PATH, connections: CONNECTIONS, firstBuild, ...amount })
}

async function pileUp({ say }: Stage, name: string, bot: ServerProcess): Promise<void> {
  await load(bot, { count: BACKLOG })
  if (!(await untilIngested(bot, BACKLOG_MAX_MS))) say(`  ${name}: the backlog is not ingested yet`)
}

/** Turn by turn; one turn after the other, so that no server is loaded while another is measured. */
async function measure(servers: Record<string, ServerProcess>): Promise<Map<string, LoadResult[]>> {
  const results = new Map(Object.keys(servers).map((name) => [name, [] as LoadResult[]]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, server] of Object.entries(servers)) {
      results.get(name)!.push(await load(server, { forMs: ROUND_MS, perSecond: PER_SECOND }))
      if (name !== 'plain') await untilIngested(server, BACKLOG_MAX_MS)
    }
  }
  return results
}

const p99 = (results: readonly LoadResult[]): number => median(results.map(({ p99Ms }) => p99Ms))

function rowsOf(name: string, results: readonly LoadResult[], baseline: number): Row[] {
  const errors = results.reduce((sum, result) => sum + result.errors, 0)
  return [
    below(`${name}: p99 acknowledgement`, p99(results), P99_MAX_MS, inMs),
    atMost(`${name}: ratio`, p99(results) / baseline, RATIO_MAX, asRatio),
    atMost(`${name}: errors`, errors, 0, asCount),
  ]
}
