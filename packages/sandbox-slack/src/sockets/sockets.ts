import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Workspace } from '../model.ts'
import type { Frame } from './envelope.ts'
import { createLink } from './link.ts'
import type { FrameEnd, Link } from './link.ts'
import { createTickets } from './tickets.ts'

/** How many connections an app may have open. */
export const CONNECTIONS_MAX = 10
/** How long after `disconnect` a connection is cut. */
export const LEAVE_MS = 10_000
/** How often each connection is pinged. */
export const PING_EVERY_MS = 10_000

export interface SocketOptions {
  /** divides LEAVE_MS; default 1 */
  timeScale?: number
  pingEveryMs?: number
}

/** The bot's open Socket Mode connections, and what Slack does to them. */
export interface Sockets {
  count(): number
  /** Sends `disconnect` on every connection, and cuts it ten seconds later. */
  refresh(reason?: 'refresh_requested' | 'warning'): void
  /** Cuts every connection at once, without `disconnect`. */
  drop(): void
  /** So many connections are held by other copies of the app. */
  occupy(count: number): void
  /** Socket Mode is turned off in the app's settings: connections, also new ones, get `link_disabled` and are cut. */
  disable(): void
  enable(): void
  /** New connections are cut right after their `hello`, without a reason, until it is turned off. */
  cutEarly(isOn: boolean): void
}

/** `Sockets` with the functions that only the sandbox itself uses. */
export interface SocketDoor extends Sockets {
  /** A URL for one connection. */
  issueUrl(): string
  /** Takes over an HTTP upgrade. */
  admit(request: IncomingMessage, raw: Duplex, head: Buffer): void
  /** Whether a connection was ever open. From then on the bot counts as using Socket Mode. */
  wasUsed(): boolean
  /** Resolves to true as soon as a connection is open, or to false after `timeoutMs`. */
  whenOpen(timeoutMs: number): Promise<boolean>
  /** Sends on one connection, the newest that is not leaving if possible; null if none is open. */
  deliver(frame: Frame, timeoutMs: number): Promise<FrameEnd | null>
}

/** When `stopping` aborts, all connections are cut. */
export function createSockets(workspace: Workspace, stopping: AbortSignal, options: SocketOptions = {}): SocketDoor {
  const { timeScale = 1, pingEveryMs = PING_EVERY_MS } = options
  const tickets = createTickets(workspace.clock)
  const server = new WebSocketServer({ noServer: true })
  const links = new Set<Link>()
  const waiting = new Set<() => void>()
  let wasUsed = false
  let occupied = 0
  let isDisabled = false
  let isCutEarly = false
  const open = (): Link[] => [...links].filter((link) => link.isOpen())
  const tear = (torn: Iterable<Link>): void => {
    for (const link of torn) link.tear()
  }
  const greet = (link: Link): void => {
    const count = open().length + occupied
    if (isDisabled) return turnAway(link, 'link_disabled')
    if (count > CONNECTIONS_MAX) return turnAway(link, 'too_many_websockets')
    wasUsed = true
    link.say(hello(workspace, count))
    if (isCutEarly) return link.tear()
    for (const wake of waiting) wake()
  }
  const timer = setInterval(() => open().forEach((link) => link.ping()), pingEveryMs).unref()
  stopping.addEventListener('abort', () => {
    clearInterval(timer)
    tear(links)
  })
  return {
    count: () => open().length,
    refresh: (reason = 'refresh_requested') => {
      const leaving = open()
      for (const link of leaving) sendAway(link, reason)
      void workspace.clock.sleep(LEAVE_MS / timeScale, stopping).then(() => tear(leaving))
    },
    drop: () => tear(links),
    occupy: (count) => void (occupied = count),
    disable: () => {
      isDisabled = true
      for (const link of open()) turnAway(link, 'link_disabled')
    },
    enable: () => void (isDisabled = false),
    cutEarly: (isOn) => void (isCutEarly = isOn),
    issueUrl: () => `${workspace.origin.replace('http', 'ws')}${LINK_PATH}?ticket=${tickets.issue()}`,
    admit: (request, raw, head) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox.invalid')
      if (pathname !== LINK_PATH || !tickets.redeem(searchParams.get('ticket'))) return refuse(raw)
      server.handleUpgrade(request, raw, head, (socket) => {
        const link = createLink(socket, raw, () => links.delete(link))
        links.add(link)
        greet(link)
      })
    },
    wasUsed: () => wasUsed,
    whenOpen: (timeoutMs) => (open().length > 0 ? Promise.resolve(true) : nextOpen(waiting, timeoutMs)),
    deliver: (frame, timeoutMs) => {
      const link = open().findLast((one) => !one.isLeaving()) ?? open().at(-1)
      return link ? link.deliver(frame, timeoutMs) : Promise.resolve(null)
    },
  }
}

const LINK_PATH = '/link/'

const refuse = (raw: Duplex): void => void raw.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n')

const HOST = { host: 'sandbox' }
/** Slack's estimate of how long a connection will last, in seconds. */
const LIFETIME_S = 18_060

const hello = ({ bot }: Workspace, count: number) => ({
  type: 'hello',
  num_connections: count,
  connection_info: { app_id: bot.appId },
  debug_info: { ...HOST, approximate_connection_time: LIFETIME_S },
})

function sendAway(link: Link, reason: string): void {
  link.leave()
  link.say({ type: 'disconnect', reason, debug_info: HOST })
}

function turnAway(link: Link, reason: 'too_many_websockets' | 'link_disabled'): void {
  sendAway(link, reason)
  link.tear()
}

function nextOpen(waiting: Set<() => void>, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isOpen: boolean): void => {
      clearTimeout(timer)
      waiting.delete(wake)
      resolve(isOpen)
    }
    const wake = (): void => end(true)
    const timer = setTimeout(() => end(false), timeoutMs)
    waiting.add(wake)
  })
}
