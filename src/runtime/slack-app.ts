import { HTTPReceiver, type Receiver } from '@slack/bolt'
import type { Config } from '../config/config.ts'
import type { StoredInteraction } from '../store/records.ts'
import { withTimeout } from '../lib/async.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createSeal } from '../lib/seal.ts'
import type { SlackDeps } from '../features/kit/context.ts'
import { registerFeatures } from '../features/kit/register.ts'
import { ReceivingApp } from '../features/kit/receiving-app.ts'
import { SocketReceiver } from '../slack/socket/receiver.ts'
import type { SocketWatch } from '../slack/socket/watch.ts'
import { createClient, slackLogger } from '../slack/api/client.ts'
import type { Permits } from '../projects/outcomes.ts'
import type { Reads } from '../store/store.ts'
import { type Feature, registryOf } from '../features/kit/feature.ts'
import type { PendingInteractions } from '../features/kit/pending-interactions.ts'

/** After a stop, people's pending requests may still be answered for this long. */
export const DRAIN_MS = 8_500
/** After that, people may be told for this long that theirs was interrupted. Together, a stop takes at most 10 s. */
export const INTERRUPT_MS = 1_500

/** A reference is this many characters of a key: short enough to be read aloud. */
const REFERENCE_CHARS = 8

interface SlackEndpointOptions {
  config: Config['slack']
  features: readonly Feature[]
  permits: Permits
  reads: Reads
  pendingInteractions: PendingInteractions
  /** in Socket Mode, receives the state of the connection */
  socketWatch: SocketWatch
  clock: Clock
  random: () => number
  /** a new uuid */
  newKey: () => string
  log: Log
}

export type SlackEndpoint = ReturnType<typeof createSlackEndpoint>

/** The endpoint for Slack, in Bolt: signed HTTP requests, or Socket Mode when there is an app token. */
export function createSlackEndpoint(options: SlackEndpointOptions) {
  const { config, clock } = options
  const socket = config.appToken === null ? null : socketReceiver(options, config.appToken)
  const http = socket ? null : httpReceiver(options)
  const app = createReceivingApp(options, socket ?? http!)
  let stopped: Promise<void> | null = null
  return {
    /** Answers requests that passed the gate; null in Socket Mode, where Slack sends nothing over HTTP. */
    handle: http ? http.requestListener : null,
    /** In Socket Mode: resolves when the first connection is open. */
    start: async () => socket?.start(),
    carryOut: (interaction: StoredInteraction, body: unknown) => app.carryOut(interaction, body),
    /**
     * Accepts no more over sockets and waits for work in flight. People who have no answer in time are told so. At most
     * 10 s. Idempotent.
     */
    stop: (): Promise<void> => (stopped ??= stop(app, socket, clock)),
  }
}

async function stop(app: ReceivingApp, socket: SocketReceiver | null, clock: Clock): Promise<void> {
  await socket?.stop()
  await withTimeout(clock, DRAIN_MS, app.settled()).catch(() => {})
  await withTimeout(clock, INTERRUPT_MS, app.giveUp()).catch(() => {})
}

function createReceivingApp(options: SlackEndpointOptions, receiver: Receiver) {
  const { config, log, features, permits, reads, pendingInteractions, clock, newKey } = options
  const { botToken, apiUrl } = config
  const client = createClient({
    token: botToken,
    apiUrl,
    logger: { warn: (text) => log.warn({ part: 'slack' }, text) },
  })
  const newReference = () => newKey().slice(0, REFERENCE_CHARS)
  const registry = registryOf(features)
  const deps: SlackDeps = {
    permits,
    reads,
    client,
    clock,
    log,
    newReference,
    seal: createSeal(botToken),
    pending: null,
  }
  // Makes no call: Bolt's own `authorize` asks Slack who the bot is before the first listener runs, and Slack may be
  // down.
  const authorize = async () => ({ botToken })
  const app = new ReceivingApp(
    { receiver, authorize, logger: boltLogger(log), ignoreSelf: false },
    registry,
    deps,
    pendingInteractions,
  )
  registerFeatures(app, registry)
  app.error(async (error) => {
    throw error
  })
  return app
}

const httpReceiver = ({ config, log }: SlackEndpointOptions): HTTPReceiver =>
  new HTTPReceiver({
    signingSecret: config.signingSecret ?? '',
    endpoints: ['/slack/events'],
    customPropertiesExtractor: ({ headers }) => ({ signature: headers['x-slack-signature'] }),
    logger: boltLogger(log),
  })

const socketReceiver = (
  { config, socketWatch, clock, random }: SlackEndpointOptions,
  appToken: string,
): SocketReceiver => new SocketReceiver({ appToken, apiUrl: config.apiUrl, clock, random, watch: socketWatch })

const boltLogger = (log: Log) =>
  slackLogger(
    (text) => log.warn({ part: 'slack' }, text),
    (text) => log.error({ part: 'slack' }, text),
  )
