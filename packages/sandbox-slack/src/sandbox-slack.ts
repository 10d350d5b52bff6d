import { createServer } from 'node:http'
import { isOwnHost } from '../../lib/same-origin.ts'
import type { Server } from 'node:http'
import { systemClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { createActs, getChannel } from './acts.ts'
import type { Acts } from './acts.ts'
import { readAppWords } from './app-words.ts'
import type { CommandWords } from './app-words.ts'
import { createCounters } from './counters.ts'
import type { Counters } from './counters.ts'
import { createEvents } from './events.ts'
import { createFaults } from './faults.ts'
import type { Faults } from './faults.ts'
import { sendJson } from './http.ts'
import type { Json } from './json.ts'
import type { Gallery } from './gallery-files.ts'
import { createPanelFrame } from './panel-door.ts'
import type { PanelDoor } from './panel-door.ts'
import { createPeople } from './people.ts'
import type { People } from './people.ts'
import { createRates, NO_RATES } from './rates.ts'
import type { RateOptions } from './rates.ts'
import { createResponseUrls } from './response-urls.ts'
import { route } from './routes.ts'
import type { RouteParts } from './routes.ts'
import { createSender } from './sender.ts'
import type { Sender } from './sender.ts'
import { createSockets } from './sockets/sockets.ts'
import type { SocketOptions, Sockets } from './sockets/sockets.ts'
import { transcript } from './transcript.ts'
import { createTriggers } from './triggers.ts'
import { createViews } from './views.ts'
import type { Views } from './views.ts'
import { toWireMessage } from './wire.ts'
import { createWorkspace } from './workspace.ts'
import type { Ephemeral, Workspace } from './workspace.ts'

export interface SandboxSlackOptions {
  clock?: Clock
  botToken?: string
  /** the app-level token, with which the bot opens Socket Mode connections */
  appToken?: string
  signingSecret?: string
  /** the token's scopes; default all that the sandbox knows, except `chat:write.public` and `users:read.email` */
  scopes?: readonly string[]
  /** the events that the app has subscribed to, such as `channel_archive`; default all that the sandbox knows */
  events?: readonly string[]
  /** whether `auth.test` names the app's id to the bot's token; default no */
  namesApp?: boolean
  /** `off`, or changes to the rate limits; default Slack's own limits */
  rates?: RateOptions | 'off'
  /** the bot's URL, such as `http://127.0.0.1:3000/slack/events`; `connectBot` can set it later */
  botUrl?: string
  /** how requests reach the bot; by default over sockets if the bot has ever opened one and no `botUrl` is set */
  mode?: 'http' | 'socket'
  sockets?: SocketOptions
  ackTimeoutMs?: number
  /** commands with a first word, such as `/ci stop`, that the page offers besides those of the manifest */
  hints?: readonly CommandWords[]
  /** pages with all messages of the bot, served below `/gallery/` */
  gallery?: Gallery
}

export interface SandboxSlack {
  /** Listens; port 0 picks a free port. */
  start(port?: number, host?: string): Promise<void>
  /** Closes every connection and drops delayed effects. */
  stop(): Promise<void>
  /** `http://127.0.0.1:<port>`; throws before `start`. */
  readonly url: string
  /** For Bolt's `slackApiUrl`, with the slash at the end. */
  readonly apiUrl: string
  readonly botToken: string
  readonly appToken: string
  readonly signingSecret: string
  readonly workspace: Workspace
  readonly acts: Acts
  readonly faults: Faults
  readonly counters: Counters
  readonly people: People
  readonly sender: Sender
  /** open modals and home tabs: `views.stack(user)`, the visible modal last, and `views.home(user)` */
  readonly views: Views
  readonly sockets: Sockets
  connectBot(url: string): void
  /** Sets the endpoint of the page's extra panels. */
  openPanel(door: PanelDoor): void
  /** A channel's messages, roots and replies, oldest first, as the Web API returns them, with metadata. */
  messages(channel: string): Json[]
  /** A channel's ephemeral messages, for all people or for this one, oldest first. */
  ephemerals(channel: string, user?: string): Ephemeral[]
  transcript(channel: string): string
}

export const DEFAULT_BOT_TOKEN = 'xoxb-sandbox-token'
export const DEFAULT_APP_TOKEN = 'xapp-sandbox-token'
export const DEFAULT_SIGNING_SECRET = 'sandbox-signing-secret'
export const DEFAULT_SCOPES = [
  'app_mentions:read',
  'channels:history',
  'channels:join',
  'channels:read',
  'chat:write',
  'commands',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'im:read',
  'im:write',
  'mpim:history',
  'mpim:read',
  'reactions:write',
  'usergroups:read',
  'users:read',
] as const

/** A Slack for tests and for trying out a bot: one workspace in memory, with Slack's limits, rates and errors. */
export function createSandboxSlack(options: SandboxSlackOptions = {}): SandboxSlack {
  const parts = createParts(options)
  const { workspace, sender, panel, stop: stopping, server, listensOn } = parts
  return {
    ...parts.handles,
    start: async (port = 0, host = '127.0.0.1') => {
      listensOn.host = host
      await listen(server, port, host)
      workspace.origin = urlOf(server)
    },
    stop: () => close(server, stopping),
    get url() {
      return urlOf(server)
    },
    get apiUrl() {
      return `${urlOf(server)}/api/`
    },
    workspace,
    connectBot: (url) => sender.connectBot(url),
    openPanel: (door) => panel.open(door),
    messages: (id) => allMessages(workspace, id),
    ephemerals: (id, user) => workspace.ephemerals.filter(isIn(id, user)),
    transcript: (id) => transcript(workspace, id),
  }
}

function createParts(options: SandboxSlackOptions) {
  const { clock = systemClock, botToken = DEFAULT_BOT_TOKEN, appToken = DEFAULT_APP_TOKEN } = options
  const { signingSecret = DEFAULT_SIGNING_SECRET, scopes = DEFAULT_SCOPES } = options
  const { rates: rateOptions = {}, botUrl, mode, ackTimeoutMs } = options
  const workspace = createWorkspace(clock, options)
  const grant = { token: botToken, appToken, scopes: new Set(scopes), isRevoked: false }
  const triggers = createTriggers(workspace)
  const views = createViews(workspace)
  const responseUrls = createResponseUrls(workspace)
  const stop = new AbortController()
  const stopping = stop.signal
  const sockets = createSockets(workspace, stopping, options.sockets)
  const sender = createSender({ clock, signingSecret, sockets, botUrl, mode, ackTimeoutMs })
  const faults = createFaults()
  const counters = createCounters(workspace.changes)
  const events = createEvents({ workspace, sender, grant, subscribed: options.events })
  const acts = createActs(workspace, grant, events)
  const rates = rateOptions === 'off' ? NO_RATES : createRates(clock, rateOptions)
  const shared = { workspace, triggers, views, sockets, events, responseUrls }
  const people = createPeople({ ...shared, sender })
  const app = readAppWords(options.hints)
  const panel = createPanelFrame()
  const { gallery = null } = options
  const listensOn = { host: '127.0.0.1' }
  const server = serve(listensOn, {
    ...shared,
    grant,
    rates,
    faults,
    counters,
    acts,
    people,
    app,
    panel,
    gallery,
    stopping,
  })
  const handles = { botToken, appToken, signingSecret, acts, faults, counters, people, sender, views, sockets }
  return { workspace, sender, panel, server, listensOn, stop, handles }
}

function serve(listensOn: { host: string }, parts: RouteParts): Server {
  const server = createServer((request, response) => {
    if (!isOwnHost(request, listensOn.host)) return sendJson(response, 403, { ok: false, error: 'not_this_host' })
    route(parts, request, response).catch((error: unknown) => {
      // Ignore a client that disconnected. Any other error is a bug in the sandbox, so show it.
      if (request.destroyed && !request.complete) return
      sendJson(response, 500, { ok: false, error: 'fatal_error', message: String(error) })
    })
  })
  return server.on('upgrade', (request, raw, head) => {
    if (isOwnHost(request, listensOn.host)) parts.sockets.admit(request, raw, head)
    else raw.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
  })
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function close(server: Server, stopping: AbortController): Promise<void> {
  stopping.abort()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

function urlOf(server: Server): string {
  const address = server.address()
  if (!address || typeof address === 'string') throw new Error('the sandbox Slack has not been started')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${ANY_HOST.has(host) ? '127.0.0.1' : host}:${address.port}`
}

const ANY_HOST = new Set(['0.0.0.0', '[::]'])

function allMessages(workspace: Workspace, id: string): Json[] {
  const channel = getChannel(workspace, id)
  return [...channel.messages.values()].map((one) => toWireMessage(workspace, channel, one, { withMetadata: true }))
}

const isIn =
  (id: string, user: string | undefined) =>
  ({ channelId, userId }: Ephemeral): boolean =>
    channelId === id && (user === undefined || userId === user)
