import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_BOT_TOKEN, DEFAULT_SIGNING_SECRET } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { START } from '../support/start-command.ts'
import type { Stage } from './benchmark.ts'
import { freePort, startServer, untilUp, type ServerProcess } from './processes.ts'

export const SECRET = 'a-secret-for-the-benchmarks'

export const DELIVERY_PATH = `/webhooks/builds/${SECRET}`

export const REPORT_PATH = `/webhooks/reports/${SECRET}`

export interface BotOptions {
  name: string
  /** the sandbox Slack's `apiUrl`, or a place where nobody answers */
  slackUrl: string
  /** a database that is there already; default a new one */
  database?: string
  /** where it may run; left out: on the server's core */
  cores?: string
  /** further settings, such as those of a CI */
  settings?: Readonly<Record<string, string>>
  /** one subscription a channel; default: #builds follows everything */
  subscriptions?: readonly {
    channel: string
    project: string
    branch?: string
    branch_match?: string
    events?: readonly string[]
  }[]
}

/** The bot as an operator starts it: its own process, its own file, the default log. It need not answer yet. */
export async function spawnBot(
  stage: Pick<Stage, 'folder' | 'profiles'>,
  { name, slackUrl, database, cores, settings, subscriptions }: BotOptions,
): Promise<ServerProcess> {
  return startServer({
    ...START,
    port: await freePort(),
    cores,
    folder: stage.folder,
    name,
    profiles: stage.profiles,
    env: {
      SLACK_BOT_TOKEN: DEFAULT_BOT_TOKEN,
      SLACK_SIGNING_SECRET: DEFAULT_SIGNING_SECRET,
      SLACK_API_URL: slackUrl,
      WEBHOOK_SECRET: SECRET,
      DATABASE_URL: `sqlite:${database ?? join(stage.folder, `${name}.db`)}`,
      ...(subscriptions
        ? { SUBSCRIPTIONS_FILE: subscriptionsFile(stage.folder, name, subscriptions) }
        : { DEFAULT_CHANNEL: 'C0BUILDS01' }),
      ...settings,
    },
  })
}

export async function startBot(stage: Stage, options: BotOptions): Promise<ServerProcess> {
  const bot = await spawnBot(stage, options)
  await untilUp(bot)
  return bot
}

// JSON is YAML.
function subscriptionsFile(folder: string, name: string, subscriptions: BotOptions['subscriptions']): string {
  const file = join(folder, `${name}.yml`)
  writeFileSync(file, JSON.stringify({ subscriptions }))
  return file
}

/** Delivers one body; throws when it is not accepted. */
export async function deliver({ port }: ServerProcess, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}${DELIVERY_PATH}`, { method: 'POST', headers, body })
  await response.text()
  if (response.status !== 202) throw new Error(`a delivery was answered ${response.status}`)
}

const LOOK_MS = 200

/** Resolves when nothing waits: no revision to take in, nothing to post, edit or look up. */
export async function untilAgreed(bot: ServerProcess, maxMs: number): Promise<void> {
  await untilBacklog(bot, maxMs, (backlog) => Object.values(backlog).every((size) => size === 0))
}

/** Resolves when every revision is ingested, whatever still waits for Slack; false: not within `maxMs`. */
export const untilIngested = (bot: ServerProcess, maxMs: number): Promise<boolean> =>
  untilBacklog(bot, maxMs, ({ ingest }) => ingest === 0).then(
    () => true,
    () => false,
  )

async function untilBacklog(
  bot: ServerProcess,
  maxMs: number,
  isEnough: (backlog: Record<string, number>) => boolean,
): Promise<void> {
  const until = performance.now() + maxMs
  for (;;) {
    const backlog = await backlogOf(bot)
    if (isEnough(backlog)) return
    if (performance.now() > until) throw new Error(`after ${maxMs} ms there still waits ${JSON.stringify(backlog)}`)
    await sleep(LOOK_MS)
  }
}

async function backlogOf({ port }: ServerProcess): Promise<Record<string, number>> {
  const text = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text())
  const sizes = [...text.matchAll(/^buildline_backlog\{queue="(\w+)"\} (\d+)$/gm)]
  if (sizes.length === 0) throw new Error('the metrics name no backlog')
  return Object.fromEntries(sizes.map(([, queue, size]) => [queue, Number(size)]))
}
