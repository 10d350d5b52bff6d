import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { startOwnPostgres, type PostgresServer } from '../support/postgres.ts'
import { asCount, asRatio, exactly, note, type Benchmark, type Row, type Stage } from './benchmark.ts'
import { DELIVERY_PATH, startBot } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import { ALL_CORES, CORES, pinSelf, type ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
import { median } from './statistics.ts'

const PROCESSES = [1, 2, 4]
const ROUNDS = 3
const DELIVERIES = 1_000
const WARM_DELIVERIES = 200
const CONNECTIONS = 64
const LOOK_MS = 100
const READY_MAX_MS = 30_000
const TAKEN_IN_MAX_MS = 120_000

export const processesShared: Benchmark = {
  name: 'processes',
  about: `${asCount(DELIVERIES)} deliveries, spread over 1, 2 and 4 processes that share one PostgreSQL (fsync on). A delivery is ingested when the decision for each channel is recorded. The rounds alternate; the processes, the database and the load share all cores.`,
  async run(stage) {
    // The server is to have every core, whatever we keep to.
    pinSelf(ALL_CORES)
    const server = await startOwnPostgres({ fsync: 'on' })
    pinSelf()
    if ('impossible' in server) return [note('processes', `not measured: ${server.impossible}`)]
    await using _ending = server
    const clusters: Cluster[] = []
    for (const processes of PROCESSES) clusters.push(await open(stage, server, processes))
    for (const cluster of clusters) await sendRound(cluster, WARM_DELIVERIES)
    const measured = clusters.map(({ bots }): Measured => ({ processes: bots.length, rounds: [] }))
    for (let round = 0; round < ROUNDS; round++)
      for (const [i, cluster] of clusters.entries()) {
        measured[i]!.rounds.push(await sendRound(cluster, DELIVERIES))
        stage.say(`  ${cluster.bots.length}: taken in after ${Math.round(measured[i]!.rounds.at(-1)!.ingestedMs)} ms`)
      }
    for (const cluster of clusters) await cluster.close()
    return [note('cores', asCount(CORES)), ...measured.flatMap((each) => rowsOf(each, measured[0]!))]
  },
}

interface Round {
  load: LoadResult
  ingestedMs: number
}

interface Measured {
  processes: number
  rounds: Round[]
}

interface Cluster {
  bots: readonly ServerProcess[]
  client: Client
  close(): Promise<void>
}

async function open(stage: Stage, server: PostgresServer, processes: number): Promise<Cluster> {
  const url = await server.createDatabase()
  const slack = await openSlack(0)
  const bots: ServerProcess[] = []
  for (let n = 1; n <= processes; n++)
    bots.push(
      await startBot(stage, {
        name: `shared-${processes}-${n}`,
        slackUrl: slack.sandbox.apiUrl,
        cores: ALL_CORES,
        settings: { DATABASE_URL: url },
      }),
    )
  await Promise.all(bots.map(untilReady))
  const client = new Client({ connectionString: url })
  await client.connect()
  return {
    bots,
    client,
    async close() {
      await client.end()
      await Promise.all(bots.map((bot) => bot.stop()))
      await slack.sandbox.stop()
    },
  }
}

/** It answers before its tables are there, but is not ready. */
async function untilReady({ port, lastWords }: ServerProcess): Promise<void> {
  const until = performance.now() + READY_MAX_MS
  while ((await fetch(`http://127.0.0.1:${port}/readyz`).then(readAll)).status !== 200) {
    if (performance.now() > until) throw new Error(`a process is not ready:\n${lastWords()}`)
    await sleep(LOOK_MS)
  }
}

async function readAll(response: Response): Promise<Response> {
  await response.text()
  return response
}

let firstBuild = 1

async function sendRound({ bots, client }: Cluster, count: number): Promise<Round> {
  firstBuild += 1_000_000
  const startedAt = performance.now()
  const ports = bots.map(({ port }) => port)
  const load = await sendLoad({
    port: ports[0]!,
    ports,
    path: DELIVERY_PATH,
    connections: CONNECTIONS,
    firstBuild,
    count,
  })
  // What the generator took to start is not the bot's.
  const beganAt = Math.max(startedAt, performance.now() - load.elapsedMs)
  while ((await notIngested(client)) > 0) {
    if (performance.now() - beganAt > TAKEN_IN_MAX_MS) throw new Error('the deliveries were not all taken in')
    await sleep(LOOK_MS)
  }
  return { load, ingestedMs: performance.now() - beganAt }
}

/** A build event has its card when what it means for each channel is decided. */
async function notIngested(client: Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>('select count(*)::int as n from fact where episode is null')
  return rows[0]!.n
}

function rowsOf({ processes, rounds }: Measured, one: Measured): Row[] {
  const beside = (rate: (round: Round) => number) => {
    const each = rateOf(rounds, rate)
    return `${asCount(each)} (${asRatio(each / rateOf(one.rounds, rate))})`
  }
  const where = processes === 1 ? '1 process' : `${processes} processes`
  return [
    note(`${where}: acknowledged/s (ratio to one process)`, beside(acknowledged)),
    note(`${where}: ingested/s (ratio to one process)`, beside(ingested)),
    exactly(
      `${where}: deliveries not accepted`,
      rounds.reduce((sum, { load }) => sum + load.errors, 0),
      0,
    ),
  ]
}

const rateOf = (rounds: readonly Round[], rate: (round: Round) => number): number => median(rounds.map(rate))
const acknowledged = ({ load }: Round): number => (load.accepted / load.elapsedMs) * 1_000
const ingested = ({ load, ingestedMs }: Round): number => (load.accepted / ingestedMs) * 1_000
