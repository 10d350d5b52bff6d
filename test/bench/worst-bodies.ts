import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SECRET, WEBHOOKS, type Webhook } from '../support/worst-bodies.ts'
import { asCount, atMost, inMB, inMs, none, note, type Row, type Stage } from './benchmark.ts'
import { startBot } from './bot.ts'
import { LOAD_CORE, mainThreadMs, residentMB, runToEnd, type ServerProcess } from './processes.ts'

/** What the senders of the largest accepted bodies do. */
export interface WorstBodies {
  port: number
  /** the webhook */
  name: string
  field: string
  shape: string
  forMs: number
}

export interface SentBodies {
  /** how often each answer came */
  answers: Record<string, number>
}

const SENDERS = fileURLToPath(new URL('send-bodies.ts', import.meta.url))

/** They cost the most to parse, or to read. */
const SHAPES = ['{},{},…', 'objects with a field of their own', '1,1,…']

/** A neighbour on the machine can be the worst of one round. */
const ROUNDS = 3
const ROUND_MS = 3_000
const LOOK_MS = 3

/** The senders have the secret: decision 27. */
const STALL_MAX_MS = 500
const GROWTH_MAX_MB = 256

/**
 * Eight senders at once repeat the largest body that a webhook accepts. How long the event loop is held is seen from this
 * process: the most that the bot's main thread does while a request for `/healthz` waits, in the best of some rounds.
 * That is processor time, since the machine may have other work to do.
 */
export async function underWorstBodies(stage: Stage, slackUrl: string): Promise<Row[]> {
  const secrets = { WEBHOOK_SECRET: SECRET, GITHUB_WEBHOOK_SECRET: SECRET, GITLAB_WEBHOOK_SECRET: SECRET }
  const bot = await startBot(stage, { name: 'worst-bodies', slackUrl, settings: secrets })
  const rows: Row[] = []
  const idle: number[] = []
  for (let round = 0; round < ROUNDS; round++) idle.push((await watched(bot, () => sleep(ROUND_MS))).worstMs)
  rows.push(note('no bodies: event loop held at most', inMs(Math.min(...idle))))
  for (const webhook of WEBHOOKS) for (const shape of SHAPES) rows.push(...(await underBodies(bot, webhook, shape)))
  await bot.stop()
  return rows
}

async function underBodies(bot: ServerProcess, { name, endpoint }: Webhook, shape: string): Promise<Row[]> {
  const what = `${name}, ${asCount(endpoint.bodyBytesMax)} bytes of ${shape}`
  const order: WorstBodies = { port: bot.port, name, field: 'x', shape, forMs: ROUND_MS }
  const before = residentMB(bot.pid)
  const rounds = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push(
      await watched(
        bot,
        async () => JSON.parse(await runToEnd(SENDERS, [JSON.stringify(order)], LOAD_CORE)) as SentBodies,
      ),
    )
  const wrong = rounds.flatMap(({ result }) => Object.keys(result.answers).filter((status) => status !== '202'))
  return [
    atMost(`${what}: event loop held at most`, Math.min(...rounds.map(({ worstMs }) => worstMs)), STALL_MAX_MS, inMs),
    atMost(
      `${what}: memory growth`,
      Math.max(...rounds.map(({ highestMB }) => highestMB)) - before,
      GROWTH_MAX_MB,
      inMB,
    ),
    none(`${what}: wrong answers`, wrong),
  ]
}

/** Asks for `/healthz` all the time, on one connection. */
async function watched<T>(bot: ServerProcess, run: () => Promise<T>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const over = new AbortController()
  let [worstMs, highestMB] = [0, 0]
  const watching = (async () => {
    while (!over.signal.aborted) {
      const before = mainThreadMs(bot.pid)
      await isUp(bot.port, agent)
      worstMs = Math.max(worstMs, mainThreadMs(bot.pid) - before)
      await sleep(LOOK_MS)
    }
  })()
  const weighing = setInterval(() => (highestMB = Math.max(highestMB, residentMB(bot.pid))), 200)
  const result = await run()
  over.abort()
  clearInterval(weighing)
  await watching
  agent.destroy()
  return { result, worstMs, highestMB }
}

const isUp = (port: number, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: '/healthz', agent }, (response) =>
      response.resume().once('end', resolve),
    ).once('error', reject)
  })
