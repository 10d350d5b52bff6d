import { replyTargetOf } from '../../../src/features/kit/reply-target.ts'
import { createServer } from 'node:http'
import { onTestFinished } from 'vitest'
import type { BuildSummary, Permits, Requester, Target } from '../../../src/projects/outcomes.ts'
import type { Config } from '../../../src/config/config.ts'
import type { BuildId, ChannelId, ProjectId } from '../../../src/domain/ids.ts'
import { type Action, parseAttemptRef } from '../../../src/domain/cards/request.ts'
import { requesterOf, messageOf } from '../../../src/features/kit/body.ts'
import { answerAction } from '../../../src/features/builds/action-messages.ts'
import { choiceButtons } from '../../../src/features/kit/run.ts'
import { commandAbout, replyTo } from '../../../src/features/kit/command.ts'
import type { Reply } from '../../../src/features/kit/context.ts'
import { type ButtonHandler, type Feature, commandNamed } from '../../../src/features/kit/feature.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { help } from '../../../src/features/help/slack.ts'
import { showInterrupted } from '../../../src/features/kit/interrupted.ts'
import { createPendingInteractions, type PendingInteractions } from '../../../src/features/kit/pending-interactions.ts'
import { respond } from '../../../src/features/kit/respond.ts'
import { machineClocks, systemClock, type Clock } from '../../../src/lib/clock.ts'
import { type Log, createLogThrottle } from '../../../src/lib/log.ts'
import { createSeal } from '../../../src/lib/seal.ts'
import { createBodyQueues } from '../../../src/http/body-queue.ts'
import { createSlackEndpoint, type SlackEndpoint } from '../../../src/runtime/slack-app.ts'
import { createClient } from '../../../src/slack/api/client.ts'
import { createGate, createSignatureCount, type Gate } from '../../../src/slack/http/gate.ts'
import { ACTION_IDS } from '../../../src/slack/messages/ids.ts'
import { createSocketWatch } from '../../../src/slack/socket/watch.ts'
import { openSqlite } from '../../../src/store/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import type { FaultInput } from '../../../packages/sandbox-slack/src/faults.ts'
import {
  type SandboxSlack,
  type SandboxSlackOptions,
  createSandboxSlack,
} from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { portOf } from '../../../packages/sandbox-slack/test/bot.ts'
import { WEB } from '../../slack/messages/cast.ts'
import { databasePath, testFolder } from '../../support/app.ts'
import type { ActionOutcome } from '../../../src/features/builds/action.ts'

export const BUILDS = CHANNELS.builds as ChannelId
export const { ada, grace, lin, gus, sol } = PEOPLE

export const REF = { projectId: '41' as ProjectId, buildId: '512' as BuildId, attempt: 1 }
export const REF_TEXT = '41/512.1'

export const build = (change: Partial<BuildSummary> = {}): BuildSummary => ({
  ...WEB,
  ref: REF,
  shown: 'started',
  word: 'initiated',
  attemptNumber: 1,
  at: Date.UTC(2026, 4, 4, 14, 2),
  streak: null,
  offers: ['stop'],
  missing: null,
  unconfirmed: null,
  ...change,
})

export const STOP_REQUESTED: ActionOutcome = { kind: 'requested', action: 'stop', build: build(), newBuildId: null }
export const RESTART_REQUESTED: ActionOutcome = {
  kind: 'requested',
  action: 'restart',
  build: build(),
  newBuildId: null,
}

const DESCRIBED = describedFeatures()

/** Whether an action id has a handler. Every id in a message must have one. */
export const isAnswered = (actionId: string): boolean =>
  actionId === ACTION_IDS.open || DESCRIBED.buttons.has(actionId) || DESCRIBED.fields.has(actionId)

type Act = (target: Target, by: Requester) => Promise<ActionOutcome>

export type Called = readonly [action: Action, target: Target, by: Requester]

/** Stop and Restart, typed, clicked and by a shortcut: the test says how they end. Nothing is behind them. */
function stopAndRestart(acts: Record<'stop' | 'restart', Act>, calls: Called[]): Feature {
  async function reply(action: 'stop' | 'restart', target: Target, by: Requester, reference: string): Promise<Reply> {
    calls.push([action, target, by])
    const outcome = await acts[action](target, by)
    return replyTo(outcome, answerAction(outcome, { command: action, branch: null, reference }))
  }
  const command = (action: 'stop' | 'restart') =>
    commandAbout(commandNamed(DESCRIBED, action)!, ({ by, reference }, target) => reply(action, target!, by, reference))
  const button = (action: 'stop' | 'restart'): ButtonHandler => ({
    ...DESCRIBED.buttons.get(ACTION_IDS[action])!,
    async answer({ value, by, reference }) {
      const ref = parseAttemptRef(value)
      return ref && reply(action, { kind: 'run', ref }, by, reference)
    },
  })
  return {
    commands: [command('stop'), command('restart')],
    buttons: { [ACTION_IDS.stop]: button('stop'), [ACTION_IDS.restart]: button('restart') },
    shortcuts: {
      restart_build: {
        ...DESCRIBED.shortcuts.get('restart_build')!,
        answer: (slack, body) => {
          const by = requesterOf(body, 'shortcut')
          return respond(slack, { what: 'restart', by, replyTarget: replyTargetOf(slack, body) }, (reference) =>
            reply('restart', messageOf(body)!, by, reference),
          )
        },
      },
    },
  }
}

export interface Line {
  level: keyof Log
  fields: Record<string, unknown>
  text: string
}

export function recordingLog(): { log: Log; lines: Line[] } {
  const lines: Line[] = []
  const at =
    (level: keyof Log) =>
    (fields: object, text: string): void =>
      void lines.push({ level, fields: { ...fields }, text })
  return { log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines }
}

export interface Stage {
  slack: SandboxSlack
  door: SlackEndpoint
  store: Store
  /** the database file of a store of its own */
  path: string
  pendingInteractions: PendingInteractions
  /** the calls of Stop and Restart, unless the test has its own features */
  calls: readonly Called[]
  lines: readonly Line[]
  /** what this person sees as ephemeral messages in #builds */
  told: (user?: string, channel?: string) => string[]
  /** The same, once there are this many. */
  untilTold: (count: number, user?: string, channel?: string) => Promise<string[]>
  /** Resolves when every request so far is answered, with the recorded calls since the stage opened. */
  asked: (count: number) => Promise<readonly Called[]>
}

export interface StageOptions {
  /** how Stop and Restart end; by default they are requested */
  stop?: Act
  restart?: Act
  /** other features, instead of Stop, Restart, the help and the choices */
  features?: readonly Feature[]
  /** by default everybody may do everything */
  permits?: Permits
  /** by default a new one */
  store?: Store
  slack?: SandboxSlackOptions
  /** Socket Mode instead of HTTP */
  socket?: boolean
  /** a fault from the beginning */
  fault?: FaultInput
  /** the endpoint's clock; by default the real one */
  clock?: Clock
  /** the clock for storing interactions in time; by default the real one */
  keepingClock?: Clock
  newKey?: () => string
}

/** A sandbox Slack and the endpoint, over signed HTTP or a socket. Both end with the test. */
export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const { permits = async () => ({ kind: 'yes' }), socket = false, clock = systemClock } = options
  const { stop = async () => STOP_REQUESTED, restart = async () => RESTART_REQUESTED } = options
  const slack = createSandboxSlack({ rates: 'off', ...options.slack })
  await slack.start()
  onTestFinished(() => slack.stop())
  if (options.fault) slack.faults.add(options.fault)
  const path = databasePath(testFolder())
  const store = options.store ?? (await openStore(path))
  const calls: Called[] = []
  const { log, lines } = recordingLog()
  let interactions = 0
  const pendingInteractions = createPendingInteractions({
    store,
    clock: options.keepingClock ?? systemClock,
    log,
    newId: () => `interaction-${(interactions += 1)}`,
    processId: 'process-1',
    seal: createSeal(slack.botToken),
    carryOut: (interaction, body) => door.carryOut(interaction, body),
    notifyInterrupted: (left) =>
      showInterrupted({ client: createClient({ token: slack.botToken, apiUrl: slack.apiUrl }), clock }, left),
  })
  const door = createSlackEndpoint({
    config: configOf(slack, socket),
    features: options.features ?? [stopAndRestart({ stop, restart }, calls), choiceButtons(), help()],
    permits,
    reads: store.read,
    pendingInteractions,
    socketWatch: createSocketWatch({ clock, log, logThrottle: createLogThrottle(clock) }),
    clock,
    random: () => 0.5,
    newKey: options.newKey ?? countedKeys(),
    log,
  })
  onTestFinished(() => door.stop())
  if (door.handle) {
    const { handle } = door
    const { unproven: queue } = createBodyQueues({ clock: systemClock, running: machineClocks.running })
    const signatures = createSignatureCount()
    const gate = createGate({ signingSecret: slack.signingSecret, log, now: systemClock.now, queue, signatures })
    slack.connectBot(await listen((request, response) => void letIn(gate, handle, request, response)))
  } else await door.start()
  const told: Stage['told'] = (user = ada, channel = BUILDS) =>
    slack.ephemerals(channel, user).map(({ message }) => message.text)
  const untilTold: Stage['untilTold'] = async (count, user, channel) => {
    await until(() => told(user, channel).length >= count)
    return told(user, channel)
  }
  const asked: Stage['asked'] = async (count) => {
    await until(() => answered(lines) >= count)
    return calls
  }
  return { slack, door, store, path, pendingInteractions, calls, lines, told, untilTold, asked }
}

async function openStore(path: string): Promise<Store> {
  const store = openSqlite(path)
  await store.migrate()
  onTestFinished(() => store.close())
  return store
}

/** Keys with the references 00000001, 00000002, … */
export function countedKeys(): () => string {
  let keys = 0
  return () => `${String((keys += 1)).padStart(8, '0')}-1111`
}

const configOf = (slack: SandboxSlack, socket: boolean): Config['slack'] => ({
  botToken: slack.botToken,
  signingSecret: slack.signingSecret,
  appToken: socket ? slack.appToken : null,
  apiUrl: slack.apiUrl,
})

const answered = (lines: readonly Line[]): number =>
  lines.filter(({ text }) => text === 'slack request finished').length

async function letIn(gate: Gate, handle: Handle, ...[request, response]: Parameters<Handle>): Promise<void> {
  if (await gate(request, response)) handle(request, response)
}

type Handle = NonNullable<SlackEndpoint['handle']>

async function listen(handle: NonNullable<SlackEndpoint['handle']>): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${portOf(server.address())}/slack/events`
}

/** Polls until `claim` holds; fails by the test's own timeout. */
export async function until(claim: () => boolean): Promise<void> {
  while (!claim()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** A promise that the test resolves. */
export function pending<Value>(): { promise: Promise<Value>; settle: (value: Value) => void } {
  let settle: (value: Value) => void = () => {}
  const promise = new Promise<Value>((resolve) => (settle = resolve))
  return { promise, settle }
}

/** Posts a card as the bot does, with its buttons. @returns its ts */
export async function postCard(slack: SandboxSlack, buttons: readonly object[] = CARD_BUTTONS): Promise<string> {
  const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${slack.botToken}` },
    body: JSON.stringify({
      channel: BUILDS,
      text: 'acme/web #512',
      attachments: [{ color: '#2eb67d', blocks: [{ type: 'actions', elements: buttons }] }],
    }),
  })
  const { ts } = (await response.json()) as { ts: string }
  return ts
}

export const button = (actionId: string, value: string): object => ({
  type: 'button',
  action_id: actionId,
  text: { type: 'plain_text', text: actionId },
  value,
})

const CARD_BUTTONS = [button('build_stop', REF_TEXT), button('build_restart', REF_TEXT)]
