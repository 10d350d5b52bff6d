import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_BOT_TOKEN, DEFAULT_SIGNING_SECRET } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { startOwnPostgres } from '../support/postgres.ts'
import { asRatio, atMost, inMs, note, type Benchmark, type Row, type Stage } from './benchmark.ts'
import { SECRET, startBot } from './bot.ts'
import { ALL_CORES, cpuMs, freePort, pinSelf, startServer, untilUp, type ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'

const NAIVE = fileURLToPath(new URL('naive-bolt.ts', import.meta.url))

/** After the start: the first jobs have ended then, and the minute in which jobs follow news. */
const REST_MS = 120_000
/** Long, because one of V8's large collections, of which a bot at rest has some, takes as long as a minute of its rest. */
const MEASURED_MS = 180_000
const MS_PER_S_MAX = 1

export const idle: Benchmark = {
  name: 'idle',
  about: `Processor time of a bot with nothing to do, in each second, on both databases; beside a Bolt app that stores nothing and has nothing to do. Measured for ${MEASURED_MS / 1_000} s, ${REST_MS / 1_000} s after the start.`,
  async run(stage) {
    const slack = await openSlack(0)
    const slackUrl = slack.sandbox.apiUrl
    pinSelf(ALL_CORES)
    const server = await startOwnPostgres({ fsync: 'on' })
    pinSelf()
    const bots = { SQLite: await startBot(stage, { name: 'idle-sqlite', slackUrl }) } as Record<string, ServerProcess>
    if (!('impossible' in server)) {
      const settings = { DATABASE_URL: await server.createDatabase() }
      bots['PostgreSQL'] = await startBot(stage, { name: 'idle-postgres', slackUrl, settings })
    }
    const naive = await startNaive(stage, slackUrl)
    const all = [...Object.values(bots), naive]
    await sleep(REST_MS)
    const before = all.map(({ pid }) => cpuMs(pid))
    await sleep(MEASURED_MS)
    const spent = all.map(({ pid }, i) => ((cpuMs(pid) - before[i]!) / MEASURED_MS) * 1_000)
    await Promise.all(all.map((one) => one.stop()))
    await slack.sandbox.stop()
    const ofNaive = spent.at(-1)!
    const rows = Object.keys(bots).flatMap((database, i): Row[] => [
      atMost(`idle: processor time in each second, ${database}`, spent[i]!, MS_PER_S_MAX, inMs),
      note(`idle: that to the Bolt app's, ${database}`, asRatio(spent[i]! / ofNaive)),
    ])
    if ('impossible' in server) return [...rows, note('idle: PostgreSQL', `not measured: ${server.impossible}`)]
    await server[Symbol.asyncDispose]()
    return [...rows, note('idle: processor time in each second, the Bolt app', inMs(ofNaive))]
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
  const server = startServer({ file: NAIVE, env, port: await freePort(), folder, name: 'idle-bolt', profiles })
  await untilUp(server)
  return server
}
