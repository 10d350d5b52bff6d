import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errorCode } from '../lib/error-code.ts'
import type { Log } from '../lib/log.ts'
import { neighbourhood } from './body-queue.ts'
import { sendJson } from './answer.ts'

/** Slow headers and slow bodies are cut off, so that idle strangers do not hold sockets for long. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 25_000
const CUT_LOOK_MS = 2_000
const KEEP_ALIVE_MS = 65_000

/** A client that does not read its response is dropped. No response takes longer: the database has a time limit. */
const UNREAD_MS = 45_000

/** Limits for the head of a request: bytes of its first line and all headers together, and the number of headers. */
export const HEAD_BYTES_MAX = 8 * 1024
export const HEADERS_MAX = 100

/** Of a body that waits to be read, this much is read ahead, and at most 64 KiB more. */
const READ_AHEAD_BYTES = 16 * 1024

/** Where a request goes, exactly as it was sent: a path that is not written in the usual way is another path. */
export interface Target {
  pathname: string
  /** the query with its `?`, or nothing */
  search: string
}

type Handler = (request: IncomingMessage, response: ServerResponse, target: Target) => Promise<void> | void

/** One route. The first route whose `matches` is true handles the request. */
export interface Route {
  matches: (pathname: string) => boolean
  handle: Handler
}

export function createHttpServer(routes: readonly Route[], log: Log) {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CUT_LOOK_MS,
      maxHeaderSize: HEAD_BYTES_MAX,
      highWaterMark: READ_AHEAD_BYTES,
    },
    (request, response) => {
      if (!connections.admits(response)) return
      // When stopping, even busy connections must close. After a request to upgrade, another protocol may follow.
      if (!server.listening || request.headers.upgrade !== undefined) response.setHeader('connection', 'close')
      dispatch(routes, request, response, log)
    },
  )
  const connections = boundConnections(server)
  server.setTimeout(UNREAD_MS)
  return {
    /** @param host null: all interfaces */
    listen: (port: number, host: string | null) => listen(server, port, host),
    /** Accepts no new requests. Resolves when those in flight are answered, or after `graceMs`: it cuts them off then. */
    close: (graceMs: number) => close(server, graceMs),
  }
}

function dispatch(routes: readonly Route[], request: IncomingMessage, response: ServerResponse, log: Log): void {
  const failed = (error: unknown) => {
    log.error({ err: error }, 'a request could not be answered')
    if (!response.headersSent) sendJson(response, 500, { status: 'error' })
    else response.destroy()
  }
  try {
    // Names and values alternate. Beyond its own limit, Node drops headers silently.
    if (request.rawHeaders.length / 2 > HEADERS_MAX) return refuseHeaders(response)
    const target = targetIn(request.url ?? '')
    const route = routes.find(({ matches }) => matches(target.pathname))
    if (route) route.handle(request, response, target)?.catch(failed)
    else sendJson(response, 404, { status: 'not found' })
  } catch (error) {
    failed(error)
  }
}

/**
 * Not with `URL`, which would read `//x/metrics` and `/a/../metrics` as `/metrics`: a proxy that blocks a path for
 * strangers does not know all ways to write it.
 * @param url a path and a query, which a host may precede
 */
export function targetIn(url: string): Target {
  const [, pathname = '', search = ''] = /^(?:https?:\/\/[^/?]*)?([^?]*)(.*)$/is.exec(url) ?? []
  return { pathname, search }
}

const refuseHeaders = (response: ServerResponse): void =>
  sendJson(
    response,
    431,
    { status: 'refused', reason: `the request has more than ${HEADERS_MAX} headers` },
    { connection: 'close' },
  )

const listen = (server: Server, port: number, host: string | null): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, backlog: CONNECTIONS_MAX, ...(host === null ? {} : { host }) }, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
    server.closeIdleConnections()
  })
}

/** How many connections may be open. */
export const CONNECTIONS_MAX = 1_000

/** If an address has more connections than this, its own make room for new ones. */
export const SHARE_MAX = 100

/** How many requests of one connection may wait for responses. A client that wants its responses sends fewer. */
export const WAITING_MAX = 16

/**
 * Limits what connections can hold. At CONNECTIONS_MAX, a new connection replaces another one, so that nobody can keep
 * others out. A connection with more than WAITING_MAX waiting requests is closed.
 */
function boundConnections(server: Server) {
  // Ordered by their last request.
  const open = new Map<Socket, Connection>()
  const byAddress = new Map<string, number>()

  function count(from: string, change: 1 | -1): void {
    const connections = (byAddress.get(from) ?? 0) + change
    if (connections === 0) byAddress.delete(from)
    else byAddress.set(from, connections)
  }

  server.on('connection', (socket: Socket) => {
    if (open.size >= CONNECTIONS_MAX) leastMissed(open, byAddress).destroy()
    const from = neighbourhood(socket.remoteAddress ?? '')
    open.set(socket, { from, waiting: new Set() })
    count(from, 1)
    socket.once('close', () => {
      open.delete(socket)
      count(from, -1)
    })
  })

  return {
    /** Whether to answer a request. Must be called for each request, before anything else. */
    admits(response: ServerResponse): boolean {
      const { socket } = response.req
      const connection = open.get(socket)
      // Node still parses requests that arrived in one piece with the one that exceeded the limit.
      if (!connection || socket.destroyed) return false
      const { waiting } = connection
      waiting.add(response)
      response.once('close', () => waiting.delete(response))
      open.delete(socket)
      open.set(socket, connection)
      if (waiting.size > WAITING_MAX) socket.destroy()
      return !socket.destroyed
    },
  }
}

interface Connection {
  /** the sender's address */
  from: string
  /** its responses that have not ended */
  waiting: Set<ServerResponse>
}

/**
 * The connection whose last request is the oldest; if possible, one without a complete request, and one from an address
 * that has more than its share.
 */
function leastMissed(open: ReadonlyMap<Socket, Connection>, byAddress: ReadonlyMap<string, number>): Socket {
  let [crowded, most] = ['', SHARE_MAX]
  for (const [from, connections] of byAddress) if (connections > most) [crowded, most] = [from, connections]
  let first: Socket | null = null
  for (const [socket, { from, waiting }] of open) {
    if (socket.destroyed || hasWholeRequest(waiting)) continue
    if (most === SHARE_MAX || from === crowded) return socket
    first ??= socket
  }
  return first ?? open.keys().next().value!
}

function hasWholeRequest(waiting: ReadonlySet<ServerResponse>): boolean {
  for (const { req } of waiting) if (req.complete) return true
  return false
}

/** A sentence on why a server could not listen; null for an error that is not about its address. */
export function listenFault(error: unknown, port: number): string | null {
  const at = error instanceof Error && 'port' in error ? Number(error.port) : port
  const code = errorCode(error)
  if (code === 'EADDRINUSE') return `port ${at} is taken by another program`
  if (code === 'EACCES') return `this user is not allowed to open port ${at}`
  return code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? 'HOST is not an address of this machine' : null
}
