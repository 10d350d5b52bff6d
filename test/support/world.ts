import { setTimeout } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { createSandboxCi, type SandboxCi, type SandboxCiOptions } from '../../packages/sandbox-ci/src/server.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import type { SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { listOf } from '../../packages/sandbox-slack/src/json.ts'
import { drawnText } from '../../packages/sandbox-slack/src/transcript.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { DOUBLE_CLICK_MS } from '../../src/features/kit/pending-interactions.ts'
import type { RunningApp, Settings, StageOptions } from './app.ts'
import { prepareStage, rowsOf, startApp, until, WEBHOOK_SECRET } from './app.ts'
import { startProcess, type Process } from './process.ts'

const { builds: BUILDS } = CHANNELS

/** The bot between a sandbox CI and a sandbox Slack, all over real HTTP. */
export interface World extends Scene {
  app: RunningApp
  /** restarts the bot on the same database, as a deployment does */
  restartApp(): Promise<void>
}

/** The same without the bot. */
export interface Scene {
  ci: SandboxCi
  slack: SandboxSlack
  folder: string
  settings: Settings
  /** Tells CI and Slack the bot's address. */
  connect(url: string): void
}

export interface WorldOptions extends StageOptions {
  ci?: SandboxCiOptions
  /** people reach the bot through its socket instead of HTTP */
  socketMode?: boolean
}

/** With the bot in this process. Ends with the test. */
export const openWorld = async (options: WorldOptions = {}): Promise<World> => enterWorld(await openScene(options))

/** Starts the bot in this process, between existing sandboxes. */
export async function enterWorld(scene: Scene): Promise<World> {
  const world: World = { ...scene, app: await startApp(scene.settings), restartApp }
  onTestFinished(() => world.app.stop())
  await enter()

  async function restartApp(): Promise<void> {
    await world.app.stop()
    world.app = await startApp(scene.settings)
    await enter()
  }

  async function enter(): Promise<void> {
    scene.connect(world.app.url)
    if (scene.settings['SLACK_APP_TOKEN']) await untilSocket(scene)
  }

  return world
}

/** Both sandboxes, and settings for a bot between them. All end with the test. */
export async function openScene({ ci: ciOptions, socketMode = false, ...options }: WorldOptions = {}): Promise<Scene> {
  const ci = createSandboxCi(ciOptions)
  await ci.start()
  onTestFinished(() => ci.stop())
  const { slack, folder, settings } = await prepareStage({
    // Slack's rate limits are tested elsewhere.
    slack: { rates: 'off' },
    ...options,
    settings: {
      DEFAULT_CHANNEL: BUILDS,
      ...botSettings(ci),
      ...(socketMode ? { SLACK_APP_TOKEN: 'xapp-sandbox-token', SLACK_SIGNING_SECRET: undefined } : {}),
      ...options.settings,
    },
  })
  const connect = (url: string) => {
    ci.setWebhookUrl(`${url}/webhooks/builds/${WEBHOOK_SECRET}`)
    if (!socketMode) slack.connectBot(`${url}/slack/events`)
  }
  return { ci, slack, folder, settings, connect }
}

/** The bot as a separate process, whose address CI and Slack know. */
export async function startBot(scene: Scene): Promise<Process> {
  const bot = startProcess(scene.folder, scene.settings)
  scene.connect(await bot.url())
  return bot
}

export const untilSocket = ({ slack }: Pick<Scene, 'slack'>): Promise<unknown> =>
  until('the bot has opened a socket', () => slack.sockets.count() > 0)

/** A build that has already failed when the bot first receives it, so that its card is posted as failed. */
export async function pushRed({ ci }: Pick<Scene, 'ci'>, project = 'acme/web', branch = 'main'): Promise<void> {
  const before = ci.deliveries().length
  ci.setSwitches({ holdDeliveries: true })
  ci.push(project, { branch, outcome: 'error', ms: 0, message: 'Fix login' })
  const [, failed] = await until('the build has failed', () => {
    const held = ci.deliveries().slice(before)
    return held.length === 2 && held
  })
  ci.setSwitches({ holdDeliveries: false })
  ci.resend(failed!.n)
}

/** A message as the Web API returns it. */
export type Shown = Record<string, unknown> & { ts: string; text: string }

/** The newest card in a channel whose text contains all of these. */
export function cardIn(slack: SandboxSlack, channel: string, ...words: readonly string[]): Shown | undefined {
  const isCard = ({ ts, thread_ts: thread }: Record<string, unknown>) => thread === undefined || thread === ts
  const card = slack
    .messages(channel)
    .map((message): Record<string, unknown> & { text: string } => ({
      ...message,
      text: drawnText({ text: String(message['text']), blocks: listOf(message['blocks']) }),
    }))
    .findLast((message) => isCard(message) && words.every((word) => message.text.includes(word)))
  return card && { ...card, ts: String(card['ts']) }
}

/** Waits for a card whose text contains all of these and that has the button. */
export const untilCard = (
  { slack }: Pick<Scene, 'slack'>,
  words: readonly string[],
  button?: string,
  channel: string = BUILDS,
): Promise<Shown> =>
  until(`a card says ${words.join(', ')}, with ${button ?? 'any buttons'}`, () => {
    const card = cardIn(slack, channel, ...words)
    return card && (button === undefined || buttonsOf(card).includes(button)) ? card : null
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}; the channel says:\n${slack.transcript(channel)}`)
  })

/** The replies in the thread of a card in #builds, oldest first. */
export const threadOf = ({ slack }: Pick<Scene, 'slack'>, { ts }: Pick<Shown, 'ts'>): string[] =>
  slack
    .messages(BUILDS)
    .filter((message) => message['thread_ts'] === ts && message['ts'] !== ts)
    .map(({ text }) => String(text))

/** Waits until a line of the card's thread contains all of these. */
export const untilThread = (scene: Pick<Scene, 'slack'>, card: Pick<Shown, 'ts'>, ...words: readonly string[]) =>
  until(`the thread says ${words.join(', ')}`, () =>
    threadOf(scene, card).find((line) => words.every((word) => line.includes(word))),
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; the thread says:\n${threadOf(scene, card).join('\n')}`)
  })

/** The ephemeral messages for this person in a channel, oldest first. */
export const answersTo = ({ slack }: Pick<Scene, 'slack'>, user: string, channel: string = BUILDS): Shown[] =>
  slack.ephemerals(channel, user).map(({ message }) => ({ ...message }))

/** Everybody reloads Slack, which removes ephemeral messages. */
export function reload({ slack }: Pick<Scene, 'slack'>): void {
  slack.workspace.ephemerals = []
}

/** Waits until the bot knows this many builds, and CI's projects. Cards may not be posted yet. */
export const untilKnown = ({ folder }: Pick<Scene, 'folder'>, builds: number): Promise<unknown> =>
  until(`${builds} builds are known`, () => {
    const isListed = rowsOf(folder, 'select 1 from project where legacy_id is not null').length > 0
    return isListed && rowsOf(folder, 'select 1 from build').length === builds
  })

/** A world in which CI's list was read. */
export async function openReady(...options: Parameters<typeof openWorld>): Promise<World> {
  const world = await openWorld(...options)
  await untilKnown(world, 0)
  return world
}

/** Waits until an ephemeral message for this person contains all of these. */
export const untilAnswered = (
  scene: Pick<Scene, 'slack'>,
  user: string,
  words: readonly string[],
  channel: string = BUILDS,
): Promise<Shown> =>
  until(`${user} is told ${words.join(', ')}`, () =>
    answersTo(scene, user, channel).findLast(({ text }) => words.every((word) => text.includes(word))),
  ).catch((error: unknown) => {
    const told = answersTo(scene, user, channel).map(({ text }) => text)
    throw new Error(`${String(error)}; told was:\n${told.join('\n---\n')}`)
  })

/** Types `/ci …` or another slash command. Resolves when the bot has acknowledged it. */
export const type = ({ slack }: Pick<Scene, 'slack'>, user: string, line: string, channel: string = BUILDS) => {
  const [command = '', ...words] = line.split(' ')
  return slack.people.runCommand({ user, channel, command, text: words.join(' ') })
}

/** Clicks a button of a message. Resolves when the bot has acknowledged it. */
export const press = (
  { slack }: Pick<Scene, 'slack'>,
  user: string,
  { ts }: Pick<Shown, 'ts'>,
  actionId: string,
  channel: string = BUILDS,
) => slack.people.click({ user, channel, ts, actionId })

/** Clicks again, too late for a double click. */
export async function pressAgain(...pressed: Parameters<typeof press>): ReturnType<typeof press> {
  await setTimeout(DOUBLE_CLICK_MS)
  return press(...pressed)
}

/** The ids of a message's buttons. */
export const buttonsOf = (message: unknown): string[] =>
  [...JSON.stringify(message).matchAll(/"action_id":"([^"]+)"/g)].map(([, id]) => id!)

/** The bot's calls to CI that change a build: `stop` of the v2 interface, `restart` of the legacy one. */
export const writesTo = (ci: SandboxCi, action: 'stop' | 'restart') =>
  ci.calls().filter(({ method, path }) => method === 'POST' && path.includes(`/${action}`))
