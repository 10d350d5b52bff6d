import { fileURLToPath } from 'node:url'
import { DEFAULT_BOT_TOKEN, DEFAULT_SIGNING_SECRET } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { asCount, asRatio, atLeast, atMost, inMB, inMs, note, type Benchmark, type Stage } from './benchmark.ts'
import { DELIVERY_PATH, SECRET, startBot } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import { freePort, residentMB, startServer, untilUp, type ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
import { median } from './statistics.ts'

/** In the first one both servers compile their code: it counts for memory alone. */
const ROUNDS = 10
const DELIVERIES = 20_000
const CONNECTIONS = 64
const LOOK_MS = 250

const RATE_MIN = 1
const P99_MAX = 0.5
const MEMORY_MAX = 0.25

const NAIVE = fileURLToPath(new URL('naive-bolt.ts', import.meta.url))

export const door: Benchmark = {
  name: 'door',
  about: `${asCount(ROUNDS * DELIVERIES)} deliveries over ${CONNECTIONS} keep-alive connections, beside a plain Bolt app that starts each post with the SDK's defaults, answers without waiting for it, and stores nothing: what Slack's limits hold back is in its memory, which grows with each delivery. Turn by turn; who is not measured sleeps. Ratios of rate and p99 are of the two in one turn (medians).`,
  async run(stage) {
    const slack = await openSlack(0)
    const slackUrl = slack.sandbox.apiUrl
    const bot = await startBot(stage, { name: 'door', slackUrl })
    const naive = await startNaive(stage, slackUrl)
    const rounds = await measure(bot, naive)
    await Promise.all([bot.stop(), naive.stop()])
    await slack.sandbox.stop()
    const half = rounds.slice(0, ROUNDS / 2)
    return [
      ...rowsOf(
        'Bolt app',
        rounds.map((round) => round.naive),
      ),
      ...rowsOf(
        'bot',
        rounds.map((round) => round.bot),
      ),
      atLeast('ratio: acknowledged/s', ratioOf(rounds, perSecond), RATE_MIN, asRatio),
      atMost('ratio: p99 acknowledgement', ratioOf(rounds, p99), P99_MAX, asRatio),
      atMost('ratio: highest memory', memoryRatioOf(rounds), MEMORY_MAX, asRatio),
      note(
        `ratio of highest memory after ${asCount(half.length * DELIVERIES)} deliveries`,
        asRatio(memoryRatioOf(half)),
      ),
      atMost('deliveries not accepted by the bot', errorsOf(rounds), 0, asCount),
    ]
  },
}

async function startNaive({ folder, profiles }: Stage, slackUrl: string): Promise<ServerProcess> {
  const env = {
    SLACK_API_URL: slackUrl,
    SLACK_BOT_TOKEN: DEFAULT_BOT_TOKEN,
    SLACK_SIGNING_SECRET: DEFAULT_SIGNING_SECRET,
    WEBHOOK_SECRET: SECRET,
    DEFAULT_CHANNEL: 'C0BUILDS01',
  }
  const server = startServer({ file: NAIVE, env, port: await freePort(), folder, name: 'naive-bolt', profiles })
  await untilUp(server)
  return server
}

interface Measured extends LoadResult {
  highestMB: number
}

interface Round {
  bot: Measured
  naive: Measured
}

async function measure(bot: ServerProcess, naive: ServerProcess): Promise<Round[]> {
  const rounds: Round[] = []
  for (let n = 0; n < ROUNDS; n++)
    rounds.push({
      naive: await bot.asleep(() => load(naive, n)),
      bot: await naive.asleep(() => load(bot, n)),
    })
  return rounds
}

async function load({ pid, port }: ServerProcess, round: number): Promise<Measured> {
  let highestMB = 0
  const look = () => (highestMB = Math.max(highestMB, residentMB(pid)))
  const looking = setInterval(look, LOOK_MS)
  const firstBuild = 1 + round * DELIVERIES
  const amount = { connections: CONNECTIONS, firstBuild, count: DELIVERIES }
  const result = await sendLoad({ port, path: DELIVERY_PATH, ...amount })
  clearInterval(looking)
  return { ...result, highestMB: look() }
}

const perSecond = ({ accepted, elapsedMs }: Measured): number => (accepted / elapsedMs) * 1_000
const p99 = ({ p99Ms }: Measured): number => p99Ms

/** Of the two in one turn: the machine is not as fast in each. */
const ratioOf = (rounds: readonly Round[], measureOf: (one: Measured) => number): number =>
  median(rounds.slice(1).map(({ bot, naive }) => measureOf(bot) / measureOf(naive)))

const highestOf = (loads: readonly Measured[]): number => Math.max(...loads.map(({ highestMB }) => highestMB))

const memoryRatioOf = (rounds: readonly Round[]): number =>
  highestOf(rounds.map(({ bot }) => bot)) / highestOf(rounds.map(({ naive }) => naive))

const errorsOf = (rounds: readonly Round[]): number => rounds.reduce((sum, { bot }) => sum + bot.errors, 0)

const rowsOf = (name: string, loads: readonly Measured[]) => [
  note(`${name}: acknowledged/s`, asCount(median(loads.slice(1).map(perSecond)))),
  note(`${name}: p99 acknowledgement`, inMs(median(loads.slice(1).map(p99)))),
  note(`${name}: highest memory`, inMB(highestOf(loads))),
]
