import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { createServer } from 'node:http'
import { onTestFinished } from 'vitest'
import type { BuildId, ChannelId, ProjectId } from '../../src/domain/ids.ts'
import type { Config } from '../../src/config.ts'
import { machineClocks, systemClock, type Clock } from '../../src/lib/clock.ts'
import { createBodyQueues } from '../../src/server/body-queue.ts'
import { type Log, createLogThrottle } from '../../src/lib/log.ts'
import type { ActionOutcome, BuildSummary, ProjectRef, StatusOutcome, WhyOutcome } from '../../src/catalog/outcomes.ts'
import { BUTTONS, FIELDS } from '../../src/features/features.ts'
import type { Operations } from '../../src/features/operations.ts'
import type { Me } from '../../src/catalog/people.ts'
import type { FaultInput } from '../../packages/sandbox-slack/src/faults.ts'
import {
  type SandboxSlack,
  type SandboxSlackOptions,
  createSandboxSlack,
} from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { createSlackEndpoint, type SlackEndpoint } from '../../src/slack-app.ts'
import { createGate, createSignatureCount, type Gate } from '../../src/slack/http/gate.ts'
import { createSocketWatch } from '../../src/slack/socket/watch.ts'
import { createSeal } from '../../src/lib/seal.ts'
import { showInterrupted } from '../../src/features/interrupted.ts'
import { createClient } from '../../src/slack/api/client.ts'
import { createPendingInteractions, type PendingInteractions } from '../../src/features/pending-interactions.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { databasePath, testFolder } from '../support/app.ts'
import { portOf } from '../../packages/sandbox-slack/test/bot.ts'
import { WEB } from '../slack/slack/cast.ts'

export const BUILDS = CHANNELS.builds as ChannelId
export const { ada, grace, lin, gus, sol } = PEOPLE

export const REF = { projectId: '41' as ProjectId, buildId: '512' as BuildId, attempt: 1 }
export const REF_TEXT = '41/512.1'

export const PROJECT: ProjectRef = { projectId: '41', uuid: null, name: 'acme/web', type: 'basic' }

export const build = (change: Partial<BuildSummary> = {}): BuildSummary => ({
  ...WEB,
  ref: REF,
  shown: 'started',
  word: 'initiated',
  attemptNumber: 1,
  at: Date.UTC(2026, 4, 4, 14, 2),
  redSince: null,
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
export const STATUS: StatusOutcome = { kind: 'status', project: PROJECT, branch: null, builds: [build()] }
export const WHY: WhyOutcome = { kind: 'why', build: build(), decisions: [], more: 0, hidden: 0 }
export const BADGE = {
  kind: 'badge',
  project: PROJECT,
  branch: 'main',
  words: 'passing',
  found: 'yes',
  url: 'https://ci.example/projects/41/status',
  markdown: '![status](https://ci.example/projects/41/status)',
  html: '<img src="https://ci.example/projects/41/status">',
  picture: null,
  failure: null,
} as const

export const meOf = (user: string, handles: readonly string[] = []): Me => ({
  user,
  handles: handles.map((handle, at) => ({ handle, at })),
  mentions: true,
})

/** By default everything succeeds. `stored` is made from the stage's store, or given by the test. */
export const SUCCESS: Omit<Operations, 'stored'> = {
  listProjects: async (query) => ({
    kind: 'projects',
    query,
    projects: [{ project: PROJECT, build: build() }],
    page: query.page,
    pages: 3,
    total: 21,
    from: 'v2',
    stale: null,
    isWhole: true,
  }),
  status: async () => STATUS,
  findBuild: async () => ({ kind: 'found', build: build() }),
  running: async () => ({ kind: 'running', where: 'channel', builds: [build()], more: 0 }),
  stop: async () => STOP_REQUESTED,
  restart: async () => RESTART_REQUESTED,
  badge: async () => BADGE,
  why: async () => WHY,
  suggestProjects: async () => [PROJECT],
  branchesOf: async () => ['main', 'fix/login'],
  mayRead: async () => ({ kind: 'yes' }),
  mayOperate: async () => ({ kind: 'yes' }),
  projects: {
    find: async () => ({ kind: 'project', project: PROJECT }),
    show: async () => ({ kind: 'no-v2' }),
    canCreate: true,
    mayAdminister: async () => ({ kind: 'yes' }),
    preview: async () => ({ kind: 'no-v2' }),
    edit: async () => ({ kind: 'no-v2' }),
    previewCreation: async () => ({ kind: 'no-v2' }),
    create: async () => ({ kind: 'no-v2' }),
    resetAesKey: async () => ({ kind: 'no-v2' }),
  },
  subscriptions: {
    subscribe: async () => ({ kind: 'no-channel' }),
    unsubscribe: async () => ({ kind: 'no-channel' }),
    proposeImport: async () => ({ kind: 'no-channel' }),
    importThese: async () => ({ kind: 'no-channel' }),
    rules: async () => ({ kind: 'no-channel' }),
    dryRun: async ({ event }) => ({ kind: 'unknown-event', text: event ?? '', events: [] }),
    preview: async () => ({ isValid: true, matches: [], more: 0, seen: 0 }),
    maySubscribe: async () => ({ kind: 'yes' }),
    channelClosed: async () => {},
    channelOpened: async () => {},
    channelMoved: async () => {},
  },
  flaky: async ({ project, days }) => ({
    kind: 'flaky',
    project,
    days,
    since: null,
    branches: { shown: [], more: 0 },
    tests: { shown: [], more: 0 },
  }),
  digests: {
    digest: async () => ({ kind: 'digest', digest: null }),
    setDigest: async () => ({ kind: 'no-channel' }),
    turnOffDigest: async () => ({ kind: 'off-already' }),
    previewDigest: async () => ({ kind: 'no-channel' }),
  },
  people: {
    me: async ({ user }) => ({ kind: 'me', me: meOf(user) }),
    claim: async (handle, { user }) => ({ kind: 'claimed', handle, me: meOf(user, [handle]) }),
    give: async (handle, user) => ({ kind: 'given', handle, user, was: null, unreached: [] }),
    release: async (handle, { user }) => ({ kind: 'released', handle, me: meOf(user) }),
    setMentions: async (mentions, { user }) => ({ kind: 'mentions', me: { ...meOf(user), mentions } }),
    accountChanged: async () => {},
  },
  breakages: {
    find: async () => ({ kind: 'not-red' }),
    act: async () => ({ kind: 'not-red' }),
    mayOwn: async () => ({ kind: 'yes' }),
  },
  home: async (user) => ({
    kind: 'home',
    home: {
      me: meOf(user),
      red: { shown: [], more: 0 },
      waiting: { shown: [], more: 0 },
      subscriptions: { shown: [], more: 0 },
      mayFollow: true,
      admin: null,
    },
  }),
  doctor: {
    slackSaid: async () => {},
    examine: async () => ({ kind: 'findings', findings: [], tookMs: 0 }),
    webhookRuleFor: async () => ({ kind: 'no-address' }),
  },
}

/** Whether an action id has a handler. Every id in a message must have one. */
export const isAnswered = (actionId: string): boolean =>
  actionId === ACTION_IDS.open || BUTTONS.has(actionId) || FIELDS.has(actionId)

export type Called = readonly [name: keyof Operations, ...args: unknown[]]

/** Operations that record their calls, except for questions whether a person may read. */
export function recordingOperations(changes: Partial<Operations> = {}, store: Store | null = null) {
  const calls: Called[] = []
  const all = { ...SUCCESS, ...changes }
  const noted =
    <Args extends unknown[], End>(name: keyof Operations, act: (...args: Args) => End) =>
    (...args: Args): End => {
      if (name !== 'mayRead') calls.push([name, ...args])
      return act(...args)
    }
  const operations: Operations = {
    get stored() {
      if (changes.stored) return changes.stored
      if (!store) throw new Error('there is no store here')
      return {
        store,
        endGone: async () => {},
        interfaces: { v2: true, legacy: true },
        sites: { ci: null, github: null, gitlab: null },
        clock: systemClock,
        subscriptions: async () => [],
      }
    },
    listProjects: noted('listProjects', all.listProjects),
    status: noted('status', all.status),
    findBuild: noted('findBuild', all.findBuild),
    running: noted('running', all.running),
    stop: noted('stop', all.stop),
    restart: noted('restart', all.restart),
    badge: noted('badge', all.badge),
    why: noted('why', all.why),
    suggestProjects: noted('suggestProjects', all.suggestProjects),
    branchesOf: noted('branchesOf', all.branchesOf),
    mayRead: noted('mayRead', all.mayRead),
    mayOperate: all.mayOperate,
    subscriptions: all.subscriptions,
    flaky: noted('flaky', all.flaky),
    digests: all.digests,
    people: all.people,
    breakages: all.breakages,
    projects: all.projects,
    home: all.home,
    doctor: all.doctor,
  }
  return { operations, calls }
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
  /** the endpoint's store, with its own database */
  store: Store
  /** the path of its file */
  path: string
  pendingInteractions: PendingInteractions
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
  operations?: Partial<Operations>
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
  const { operations: changes, socket = false, clock = systemClock, newKey = countedKeys() } = options
  const slack = createSandboxSlack({ rates: 'off', ...options.slack })
  await slack.start()
  onTestFinished(() => slack.stop())
  if (options.fault) slack.faults.add(options.fault)
  const path = databasePath(testFolder())
  const store = await openStore(path)
  const { operations, calls } = recordingOperations(changes, store)
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
    operations,
    pendingInteractions,
    socketWatch: createSocketWatch({ clock, log, logThrottle: createLogThrottle(clock) }),
    clock,
    random: () => 0.5,
    newKey,
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
