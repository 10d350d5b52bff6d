import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asCount, asRatio, atLeast, atMost, note, type Benchmark, type Stage } from './benchmark.ts'
import { DELIVERY_PATH, startBot } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import { freePort, startServer, untilUp, type ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
import { median } from './statistics.ts'

const ROUNDS = 5
const ROUND_MS = 2_500
const WARM_MS = 1_000
const CONNECTIONS = 64
const RATIO_MIN = 0.5

const BASELINE = fileURLToPath(new URL('baseline-server.ts', import.meta.url))

export const acknowledged: Benchmark = {
  name: 'acknowledged',
  about: `Durable deliveries acknowledged a second over ${CONNECTIONS} keep-alive connections, beside a bare HTTP server that parses the same JSON. The bot sleeps while the other servers are measured, because it has a flood to catch up with.`,
  async run(stage) {
    const slack = await openSlack(0)
    const bot = await startBot(stage, { name: 'acknowledged', slackUrl: slack.sandbox.apiUrl })
    const bare = await startBaseline(stage, { name: 'bare', args: ['bare'] })
    const durable = await startBaseline(stage, {
      name: 'durable',
      args: ['group-commit', join(stage.folder, 'durable.db')],
    })
    const rounds = await measure({ bare, durable, bot })
    await Promise.all([bot, bare, durable].map((server) => server.stop()))
    await slack.sandbox.stop()
    const rate = (of: keyof Round) => asCount(median(rounds.map((round) => perSecond(round[of]))))
    const errors = rounds.reduce((sum, round) => sum + round.bot.errors, 0)
    return [
      note('acknowledged/s: the bot', rate('bot')),
      note('acknowledged/s: bare HTTP server', rate('bare')),
      note('acknowledged/s: the same with one insert each, committed once a turn', rate('durable')),
      atLeast(
        'acknowledged/s: ratio',
        median(rounds.map((round) => perSecond(round.bot) / perSecond(round.bare))),
        RATIO_MIN,
        asRatio,
      ),
      atMost('acknowledged/s: errors', errors, 0, asCount),
      note(
        'acknowledged/s: load generator busy, at most',
        asRatio(Math.max(...rounds.map((round) => round.bare.busy))),
      ),
    ]
  },
}

export async function startBaseline(
  stage: Stage,
  { name, args, cores }: { name: string; args: readonly string[]; cores?: string },
): Promise<ServerProcess> {
  const { folder, profiles } = stage
  const server = startServer({ file: BASELINE, args, port: await freePort(), cores, folder, name, profiles })
  await untilUp(server)
  return server
}

interface Round {
  bare: LoadResult
  durable: LoadResult
  bot: LoadResult
}

async function measure({ bare, durable, bot }: Record<keyof Round, ServerProcess>): Promise<Round[]> {
  let firstBuild = 1
  const load = (server: ServerProcess, forMs: number) => {
    firstBuild += 1_000_000
    return sendLoad({ port: server.port, path: DELIVERY_PATH, connections: CONNECTIONS, firstBuild, forMs })
  }
  for (const server of [bare, durable, bot]) await load(server, WARM_MS)
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({
      bare: await bot.asleep(() => load(bare, ROUND_MS)),
      durable: await bot.asleep(() => load(durable, ROUND_MS)),
      bot: await load(bot, ROUND_MS),
    })
  return rounds
}

const perSecond = ({ accepted, elapsedMs }: LoadResult): number => (accepted / elapsedMs) * 1_000
