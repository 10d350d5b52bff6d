import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { createApp } from '../../src/app.ts'
import { readConfig, secretsOf } from '../../src/config/config.ts'
import { createLogger } from '../../src/http/logger.ts'
import type { SandboxSlack, SandboxSlackOptions } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { createSandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { emptyDatabase } from './stores.ts'

// As in `main`: only the bot's own user may read its files.
process.umask(0o077)

export type Settings = Readonly<Record<string, string | undefined>>

export const WEBHOOK_SECRET = 'door-secret-of-today'

/** An address where nobody listens, for tests that send nothing. */
export const NOBODY = 'http://127.0.0.1:9/api/'

/** The settings that every app needs, with a new SQLite file. `changes` override them. */
export const settingsWith = (folder: string, changes: Settings = {}): Settings => ({
  PORT: '0',
  SLACK_BOT_TOKEN: 'xoxb-sandbox-token',
  SLACK_SIGNING_SECRET: 'sandbox-signing-secret',
  SLACK_API_URL: NOBODY,
  WEBHOOK_SECRET,
  DATABASE_URL: `sqlite:${databasePath(folder)}`,
  LOG_LEVEL: 'debug',
  ...changes,
})

export const databasePath = (folder: string): string => join(folder, 'buildline.db')

/** A temporary folder; `remove` deletes it. */
export function openFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'buildline-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A temporary folder that is deleted after the test. */
export function testFolder(): string {
  const { folder, remove } = openFolder()
  onTestFinished(remove)
  return folder
}

export interface RunningApp {
  url: string
  /** where `/metrics` and `/readyz` are */
  metricsUrl: string
  /** every log line so far */
  lines: readonly string[]
  /** Idempotent. */
  stop(): Promise<void>
}

/** Starts the app in this process, as main does. Throws if the settings have faults. */
export async function startApp(settings: Settings): Promise<RunningApp> {
  const reading = readConfig(settings)
  if (reading.kind === 'faults') throw new Error(reading.faults.join('\n'))
  const { config } = reading
  const lines: string[] = []
  const app = await createApp(
    config,
    createLogger(config.logLevel, secretsOf(config), { write: (line) => lines.push(line) }),
  )
  const { port, metricsPort } = await app.start()
  const at = (number: number) => `http://${config.host ?? '127.0.0.1'}:${number}`
  let stopped: Promise<void> | null = null
  return { url: at(port), metricsUrl: at(metricsPort ?? port), lines, stop: () => (stopped ??= app.stop()) }
}

export interface Stage {
  app: RunningApp
  slack: SandboxSlack
  folder: string
  settings: Settings
}

export interface StageOptions {
  settings?: Settings
  slack?: SandboxSlackOptions
  /** the items of the list in a SUBSCRIPTIONS_FILE, as YAML */
  subscriptions?: readonly string[]
}

/** A sandbox Slack, and settings for an app that uses it. Both end with the test. */
export async function prepareStage(options: StageOptions = {}): Promise<Omit<Stage, 'app'>> {
  const slack = createSandboxSlack(options.slack)
  await slack.start()
  onTestFinished(() => slack.stop())
  const folder = testFolder()
  // A start finds it as its first migrations would leave it, which would take longer than the rest of the start.
  writeFileSync(databasePath(folder), await emptyDatabase())
  const file = options.subscriptions ? { SUBSCRIPTIONS_FILE: writeSubscriptions(folder, options.subscriptions) } : {}
  return {
    slack,
    folder,
    settings: settingsWith(folder, { SLACK_API_URL: slack.apiUrl, ...file, ...options.settings }),
  }
}

/** The same, with the app running in this process. */
export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const stage = await prepareStage(options)
  const app = await startApp(stage.settings)
  onTestFinished(() => app.stop())
  return { ...stage, app }
}

export function writeSubscriptions(folder: string, entries: readonly string[]): string {
  const path = join(folder, 'subscriptions.yml')
  writeFileSync(path, ['subscriptions:', ...entries.map((entry) => `  - ${entry}`)].join('\n'))
  return path
}

export interface Answer {
  status: number
  headers: Headers
  text: string
}

export interface Sending {
  /** default: the right secret in the path */
  path?: string
  method?: string
  headers?: Record<string, string>
}

/** Sends one delivery: an object as JSON, anything else unchanged. */
export async function send(url: string, body: unknown, sending: Sending = {}): Promise<Answer> {
  const { path = `/webhooks/builds/${WEBHOOK_SECRET}`, method = 'POST', headers = {} } = sending
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Sends deliveries one after the other; each must be accepted. */
export async function sendAll(url: string, ...builds: readonly Build[]): Promise<void> {
  for (const build of builds) {
    const { status, text } = await send(url, delivery(build))
    if (status !== 202) throw new Error(`the door answered ${status}: ${text}`)
  }
}

/** The fields of a delivery's `build` that a test sets. */
export type Build = Record<string, unknown> & { build_id?: number | string }

const COMMIT = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'

/** The body that CI sends about build 512 of acme/web, `main`, with these changes. */
export const delivery = (build: Build = {}): { build: Build } => ({
  build: {
    build_url: `https://ci.example/projects/11/builds/${build.build_id ?? 512}`,
    commit_url: `https://code.example/acme/web/commit/${COMMIT}`,
    project_id: 11,
    build_id: 512,
    status: 'initiated',
    project_full_name: 'acme/web',
    project_name: 'acme/web',
    commit_id: COMMIT,
    short_commit_id: 'a1b2c',
    message: 'fix login',
    committer: 'Ada',
    branch: 'main',
    ...build,
  },
})

/** A different commit for each number: 40 hex digits. */
export const commitOf = (n: number): string => n.toString(16).padStart(4, '0').repeat(10)

/** A build with its own commit, and so with its own card. */
export const buildOf = (n: number, build: Build = {}): Build => ({
  build_id: n,
  commit_id: commitOf(n),
  short_commit_id: commitOf(n).slice(0, 7),
  ...build,
})

const LOOK_AGAIN_MS = 20
/** Looking takes processor time from what is waited for: after a second, every 100 ms is enough. */
const LOOK_AGAIN_MAX_MS = 100
const SLOWER = 10

/** Polls until the claim is truthy, and returns it. After `withinMs` it fails with a description. */
export async function until<T>(
  what: string,
  claim: () => T | Promise<T>,
  withinMs = 20_000,
): Promise<Exclude<T, false | null | undefined>> {
  const begunAt = Date.now()
  for (;;) {
    const held = await claim()
    if (held) return held as Exclude<T, false | null | undefined>
    const waitedMs = Date.now() - begunAt
    if (waitedMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    const pauseMs = Math.min(LOOK_AGAIN_MAX_MS, Math.max(LOOK_AGAIN_MS, waitedMs / SLOWER))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Rows of the app's database file, read through a separate connection. */
export function rowsOf(folder: string, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(databasePath(folder), { readOnly: true })
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

const FILES = ['', '-wal', '-journal'] as const

/** All bytes of the database's files, as one string. */
export const databaseBytes = (folder: string): string =>
  FILES.map((end) => readIfThere(`${databasePath(folder)}${end}`)).join('')

function readIfThere(path: string): string {
  try {
    return readFileSync(path).toString('latin1')
  } catch {
    return ''
  }
}

/** Resolves when the app's backlog is empty: nothing to ingest, post, edit or look up. */
export const settled = (url: string, withinMs?: number): Promise<unknown> =>
  until(
    'nothing waits any more',
    async () => {
      const text = await (await fetch(`${url}/metrics`)).text()
      const sizes = [...text.matchAll(/^buildline_backlog\{[^}]*\} (\d+)/gm)].map(([, size]) => Number(size))
      return sizes.length > 0 && sizes.every((size) => size === 0)
    },
    withinMs,
  )
