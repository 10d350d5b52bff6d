import { onTestFinished } from 'vitest'
import { createSandboxCi, type SandboxCi, type SandboxCiOptions } from '../../src/sandbox/ci/server.ts'
import type { SandboxSlack } from '../../src/sandbox/slack/sandbox-slack.ts'
import { CHANNELS } from '../../src/sandbox/slack/workspace.ts'
import { prepareStage, startApp, WEBHOOK_SECRET, type RunningApp, type Settings, type StageOptions } from './app.ts'

/** The bot between a sandbox CI and a sandbox Slack, all over real HTTP: what a team lives in. */
export interface World {
  ci: SandboxCi
  slack: SandboxSlack
  app: RunningApp
  folder: string
  settings: Settings
  /** starts the bot again on the same database, as after a crash or a deployment */
  restartApp(): Promise<void>
}

export interface WorldOptions extends StageOptions {
  ci?: SandboxCiOptions
  /** people reach the bot over a socket that it opens, not over HTTP */
  socketMode?: boolean
}

export async function openWorld({ ci: ciOptions, socketMode = false, ...options }: WorldOptions = {}): Promise<World> {
  const ci = createSandboxCi(ciOptions)
  await ci.start()
  onTestFinished(() => ci.stop())
  const stage = await prepareStage({
    ...options,
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      ...ciSettings(ci),
      ...(socketMode ? { SLACK_APP_TOKEN: 'xapp-sandbox-token', SLACK_SIGNING_SECRET: undefined } : {}),
      ...options.settings,
    },
  })
  const world: World = { ci, ...stage, app: await startApp(stage.settings), restartApp }
  onTestFinished(() => world.app.stop())
  connect()
  if (socketMode) await until(() => stage.slack.sockets.count() > 0)

  function connect(): void {
    ci.setWebhookUrl(`${world.app.url}/webhooks/builds/${WEBHOOK_SECRET}`)
    if (!socketMode) stage.slack.connectBot(`${world.app.url}/slack/events`)
  }

  async function restartApp(): Promise<void> {
    await world.app.stop()
    world.app = await startApp(stage.settings)
    connect()
  }

  return world
}

export function ciSettings(ci: SandboxCi): Settings {
  const { baseUrl, legacyBaseUrl, siteUrl, organizationUuid, authorization, apiKey } = ci.address()
  return {
    CI_BASE_URL: baseUrl,
    CI_LEGACY_BASE_URL: legacyBaseUrl,
    CI_SITE_URL: siteUrl,
    CI_ORGANIZATION_UUID: organizationUuid,
    CI_AUTHORIZATION: authorization,
    CI_API_KEY: apiKey,
  }
}

export async function until<T>(look: () => T | Promise<T>, patienceMs = 8_000): Promise<NonNullable<T>> {
  const end = Date.now() + patienceMs
  for (;;) {
    const seen = await look()
    if (seen) return seen
    if (Date.now() > end) throw new Error('waited in vain')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The card in a channel whose text holds all of these. */
export function cardIn(slack: SandboxSlack, channel: string, ...words: readonly string[]): { ts: string } | undefined {
  const holds = (text: unknown) => words.every((word) => String(text).includes(word))
  const card = slack.messages(channel).find((message) => !message['thread_ts'] && holds(message['text']))
  return card && { ...card, ts: String(card['ts']) }
}

/** The ids of the buttons that a message has. */
export const buttonsOf = (message: unknown): string[] =>
  [...JSON.stringify(message).matchAll(/"action_id":"([^"]+)"/g)].map(([, id]) => id!)
