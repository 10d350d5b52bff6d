import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordDelivery } from '../../src/alerts/record/record.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { readPayload } from '../../src/sources/ci-service/endpoint.ts'
import { startOwnPostgres } from '../support/postgres.ts'
import { openStoreAt } from '../support/stores.ts'
import { asCount, atLeast, atMost, inMs, note, type Benchmark, type Row, type Stage } from './benchmark.ts'
import { DELIVERY_PATH, startBot } from './bot.ts'
import { deliveryBody, projectName, PROJECTS, streamBody } from './delivery.ts'
import { ALL_CORES, pinSelf } from './processes.ts'
import { channelId, openSlack } from './slack.ts'
import { median, percentile } from './statistics.ts'
import { openWire } from './wire.ts'

const DELIVERIES = 2_000
const ROUNDS = 5
/** Recorded at the same time. */
const TOGETHER = 64
const LOOK_MS = 20
const PER_SECOND_MIN = 600

/** A channel takes few posts at once: so many channels that none has to wait. */
const CHANNELS = 100
const PROJECT = 5_000
const MESSAGES = 300
const WARM_MESSAGES = 40
/** Between two deliveries nothing is under way. With this the bot asks for CI's rules more than once. */
const PAUSE_MS = 60
const SLACK_MS = 5
const MEDIAN_MAX_MS = 8
const P99_MAX_MS = 50

/** Nobody answers here. */
const CI_AWAY = {
  CI_BASE_URL: 'http://127.0.0.1:9',
  CI_AUTHORIZATION: 'Bearer nobody-reads-it',
  CI_ORGANIZATION_UUID: '11111111-2222-3333-4444-555555555555',
}

export const ingest: Benchmark = {
  name: 'ingest',
  about: `One process on each database (PostgreSQL: fsync on), CI away, Slack answering in ${SLACK_MS} ms. Ingested: ${asCount(DELIVERIES)} deliveries are stored while the bot sleeps, then it wakes; rounds alternate. Delivery to message: from the delivery of a new build until Slack has its message, one at a time.`,
  async run(stage) {
    pinSelf(ALL_CORES)
    const server = await startOwnPostgres({ fsync: 'on' })
    pinSelf()
    if ('impossible' in server) return [note('ingest', `not measured: ${server.impossible}`)]
    await using _ending = server
    const sides = [
      await open(stage, 'SQLite', `sqlite:${join(stage.folder, 'ingest.db')}`),
      await open(stage, 'PostgreSQL', await server.createDatabase()),
    ]
    const measured = sides.map(() => ({ perSecond: [] as number[], messageMs: [] as number[] }))
    for (let n = 0; n < WARM_MESSAGES + MESSAGES; n++)
      for (const [i, side] of sides.entries()) {
        const ms = await side.message(n)
        if (n >= WARM_MESSAGES) measured[i]!.messageMs.push(ms)
        await sleep(PAUSE_MS)
      }
    for (let round = 0; round <= ROUNDS; round++)
      for (const [i, side] of sides.entries()) {
        const perSecond = await side.ingested(round)
        stage.say(`  ${side.name}: ${asCount(perSecond)} a second`)
        if (round > 0) measured[i]!.perSecond.push(perSecond)
      }
    for (const side of sides) await side.close()
    return sides.flatMap(({ name }, i) => rowsOf(name, measured[i]!))
  },
}

async function open(stage: Stage, name: string, url: string) {
  const slack = await openSlack(CHANNELS, { rates: 'off' })
  slack.sandbox.faults.add({ kind: 'slow', method: 'chat.postMessage', ms: SLACK_MS })
  const bot = await startBot(stage, {
    name: `ingest-${name}`,
    slackUrl: slack.sandbox.apiUrl,
    cores: ALL_CORES,
    settings: { DATABASE_URL: url, ...CI_AWAY },
    subscriptions: [
      ...Array.from({ length: PROJECTS }, (_, i) => ({ channel: channelId(CHANNELS), project: projectName(1 + i) })),
      ...Array.from({ length: CHANNELS - 1 }, (_, i) => ({
        channel: channelId(1 + i),
        project: projectName(PROJECT + i),
      })),
    ],
  })
  const wire = await openWire(bot.port, DELIVERY_PATH)
  const store = openStoreAt(url)
  const waiting = async (): Promise<number> => (await store.read.backlog(Date.now())).ingest

  async function storeAll(firstBuild: number): Promise<void> {
    const bodies = Array.from({ length: DELIVERIES }, (_, n) => streamBody(n, firstBuild))
    for (let n = 0; n < DELIVERIES; n += TOGETHER) await Promise.all(bodies.slice(n, n + TOGETHER).map(record))
  }

  async function record(body: string): Promise<void> {
    const read = readPayload(Buffer.from(body))
    if (read.kind !== 'delivery') throw new Error(read.reason)
    await recordDelivery({ store, clock: systemClock }, { event: read.event, body })
  }

  return {
    name,
    async message(n: number): Promise<number> {
      const project = PROJECT + (n % (CHANNELS - 1))
      const before = slack.writes.length
      const startedAt = performance.now()
      const status = await wire.post(deliveryBody({ project, build: 1 + n, branch: 'main' }, 'success'))
      if (status !== 202) throw new Error(`a delivery was answered ${status}`)
      const { at } = await slack.until(() => slack.writes[before])
      return at - startedAt
    },
    async ingested(round: number): Promise<number> {
      const firstBuild = (round + 1) * 1_000_000
      await bot.asleep(() => storeAll(firstBuild))
      const startedAt = performance.now()
      // Another process has stored them, of which SQLite tells nobody: this delivery wakes the bot.
      await wire.post(streamBody(DELIVERIES, firstBuild))
      while ((await waiting()) > 0) await sleep(LOOK_MS)
      return (DELIVERIES / (performance.now() - startedAt)) * 1_000
    },
    async close(): Promise<void> {
      wire.close()
      await store.close()
      await bot.stop()
      await slack.sandbox.stop()
    },
  }
}

function rowsOf(name: string, { perSecond, messageMs }: { perSecond: number[]; messageMs: number[] }): Row[] {
  return [
    atLeast(`${name}: ingested/s`, median(perSecond), PER_SECOND_MIN, asCount),
    atMost(`${name}: delivery to message, median`, median(messageMs), MEDIAN_MAX_MS, inMs),
    atMost(`${name}: delivery to message, p99`, percentile(messageMs, 0.99), P99_MAX_MS, inMs),
  ]
}
