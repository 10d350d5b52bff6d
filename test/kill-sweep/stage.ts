import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { RULE_EVENTS } from '../../src/domain/rules/rule.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { createSandboxCi, type SandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import { createSandboxSlack, type SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS, createChannel } from '../../packages/sandbox-slack/src/workspace.ts'
import { startBot, type Bot } from '../../packages/demo/src/demo/bot.ts'
import { queryOnce } from '../support/postgres.ts'
import { FAST_TIME, fastClock, toText, type FastTime } from './fast-clock.ts'
import type { Gate } from './points.ts'
import { createRepeater } from './repeater.ts'
import { openTap, type Moment, type Passage, type Verdict } from './tap.ts'

const PRELOAD = fileURLToPath(new URL('fast-time.ts', import.meta.url))
const SECRET = 'sweep-webhook-secret'

/** Real time for Slack: on a slow machine, the bot must not look slow. CI's timeout is longer than any start. */
const PATIENCE_MS = 10_000
const CI_PATIENCE_MS = 300_000
const START_MAX_MS = 180_000

/** CI repeats refused deliveries in order. While nobody listens, the tap holds them. */
const RETRIES_MAX = 20

/** The channels of the burst; people click in #builds. */
const BURST_CHANNELS = 10
export const CLICKED = { channel: CHANNELS.builds, prefix: 'pressed/' }
export const FOLLOWED = [
  CLICKED,
  ...Array.from({ length: BURST_CHANNELS }, (_, n) => ({ channel: `C0SWEEP${n + 10}`, prefix: `sweep-${n}/` })),
]

const CI_WRITE = /\/(?:stop|restart)\b/

/** Called for every request at each of its moments; returns what happens to it. */
export type Hear = (gate: Gate, moment: Moment, passage: Passage) => Verdict

/** A CI, a Slack, a database, and taps between them and a bot that can be started and killed. */
export interface Stage extends AsyncDisposable {
  clock: Clock
  ci: SandboxCi
  slack: SandboxSlack
  folder: string
  /** replaced by tests */
  hear: Hear
  /** the bot's calls to CI that change a build: `POST …/stop`, `POST …/restart` */
  ciWrites: string[]
  /** Starts a process of the bot. Requests reach it when its endpoints are open. */
  start(): Bot
  /** where the newest process listens */
  botUrl(): string | null
  /** Resolves when every unanswered start was repeated after the end of its build. @returns how many */
  repeated(): Promise<number>
  /** Keeps the folder with the log and the database file, for debugging. */
  keep(): void
  /** the bodies of all deliveries in the database */
  bodies(): Promise<string[]>
  /** build and status of each build event that was repeated: repetitions are counted, and their bodies not stored */
  repeatedEvents(): Promise<string[]>
}

/**
 * @param databaseUrl a `postgres://` address of an empty database; null: an SQLite file
 * @param also further fields of each subscription
 */
export async function openStage(databaseUrl: string | null, times: number, also: object = {}): Promise<Stage> {
  const time = { since: Date.now(), times }
  if (databaseUrl !== null) await hasten(databaseUrl, time)
  const clock = fastClock(time)
  const folder = mkdtempSync(join(tmpdir(), 'buildline-sweep-'))
  const file = join(folder, 'buildline.db')
  const ci = createSandboxCi({
    clock,
    switches: { deliveryRetriesMax: RETRIES_MAX, deliveryRetryMs: 100, deliveryTimeoutMs: CI_PATIENCE_MS },
  })
  const slack = createSandboxSlack({ clock, ackTimeoutMs: PATIENCE_MS * times })
  await Promise.all([ci.start(), slack.start()])
  follow(slack)
  let url: string | null = null
  let up = Promise.withResolvers<string>()
  let isKept = false
  const watch = (gate: Gate) => (moment: Moment, passage: Passage) => {
    const { method, path } = passage
    if (gate === 'ci' && moment === 'arrived' && method === 'POST' && CI_WRITE.test(path)) stage.ciWrites.push(path)
    return stage.hear(gate, moment, passage)
  }
  const repeater = createRepeater(
    () => url,
    async (body) => (await stage.bodies()).includes(body),
  )
  const door = await openTap({
    clock,
    target: () => up.promise,
    watch(moment, passage) {
      if (moment === 'answered') repeater.acknowledged(passage)
      return watch('door')(moment, passage)
    },
    isTakenOver: repeater.takesOver,
  })
  const toSlack = await openTap({ clock, target: async () => slack.url, watch: watch('slack') })
  const toCi = await openTap({ clock, target: async () => ci.url, watch: watch('ci') })
  ci.setWebhookUrl(`${door.url}/webhooks/builds/${SECRET}`)
  slack.connectBot(`${door.url}/slack/events`)
  const settings = {
    NODE_OPTIONS: `--import ${PRELOAD}`,
    [FAST_TIME]: toText(time),
    LOG_LEVEL: 'info',
    SLACK_API_URL: slack.apiUrl.replace(slack.url, toSlack.url),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    ...botSettings(ci),
    CI_BASE_URL: ci.address().baseUrl.replace(ci.url, toCi.url),
    CI_LEGACY_BASE_URL: ci.address().legacyBaseUrl.replace(ci.url, toCi.url),
    WEBHOOK_SECRET: SECRET,
    DATABASE_URL: databaseUrl ?? `sqlite:${file}`,
    SUBSCRIPTIONS_FILE: subscriptionsIn(folder, also),
  }

  function start(): Bot {
    const bot = startBot(settings, join(folder, 'bot.log'), START_MAX_MS)
    void bot.port.then(enter, () => {})
    void bot.ended.then(leave)
    return bot
  }

  function enter(port: number): void {
    url = `http://127.0.0.1:${port}`
    up.resolve(url)
  }

  // Requests that wait for a process then wait for the next one.
  function leave(): void {
    if (url !== null) up = Promise.withResolvers()
    url = null
  }

  const stage: Stage = {
    clock,
    ci,
    slack,
    folder,
    hear: () => 'pass',
    ciWrites: [],
    start,
    botUrl: () => url,
    repeated: repeater.done,
    bodies: async () => (await rowsOf(databaseUrl, file, 'select body from delivery')).map(({ body }) => String(body)),
    repeatedEvents: async () =>
      (await rowsOf(databaseUrl, file, 'select build_id, word from fact where repeats > 0')).map(
        ({ build_id: build, word }) => `${String(build)} ${String(word)}`,
      ),
    keep: () => void (isKept = true),
    async [Symbol.asyncDispose]() {
      await Promise.all([ci.stop(), slack.stop(), door.close(), toSlack.close(), toCi.close()])
      if (!isKept) rmSync(folder, { recursive: true, force: true })
    },
  }
  return stage
}

/** PostgreSQL's clock is the processes' common clock, so it must run as fast. */
export async function hasten(databaseUrl: string, { since, times }: FastTime): Promise<void> {
  const real = 'extract(epoch from pg_catalog.clock_timestamp()) * 1000'
  await queryOnce(
    databaseUrl,
    `create function public.clock_timestamp() returns timestamptz language sql volatile as
     $$ select to_timestamp((${since} + (${real} - ${since}) * ${times}) / 1000) $$`,
  )
  const database = new URL(databaseUrl).pathname.slice(1)
  await queryOnce(databaseUrl, `alter database ${database} set search_path = public, pg_catalog`)
}

/** Deliveries that CI has given up and that nobody has acknowledged. */
export const untakenBy = (ci: SandboxCi): Delivery[] =>
  ci.deliveries().filter(({ state, attempts }) => state !== 'queued' && !attempts.some(isTaken))

export type Delivery = ReturnType<SandboxCi['deliveries']>[number]

export const isTaken = (attempt: Delivery['attempts'][number]): boolean =>
  attempt.kind === 'answered' && attempt.statusCode === 202

function follow({ workspace }: SandboxSlack): void {
  for (const { channel } of FOLLOWED) {
    if (workspace.channels.has(channel)) continue
    workspace.channels.set(channel, createChannel(channel, channel.toLowerCase(), [workspace.bot.userId]))
  }
}

function subscriptionsIn(folder: string, also: object): string {
  const path = join(folder, 'subscriptions.yml')
  const subscriptions = FOLLOWED.map(({ channel, prefix }) => ({
    channel,
    project: 'all',
    branch: `${prefix}*`,
    events: RULE_EVENTS,
    ...also,
  }))
  // JSON is valid YAML.
  writeFileSync(path, JSON.stringify({ subscriptions }))
  return path
}

async function rowsOf(databaseUrl: string | null, file: string, sql: string): Promise<Record<string, unknown>[]> {
  if (databaseUrl !== null) return (await queryOnce(databaseUrl, sql)) as Record<string, unknown>[]
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}
