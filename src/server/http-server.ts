import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { giveBack } from './memory.ts'
import type { Log } from '../lib/log.ts'
import { type RateLimiter, AT_ONCE_BYTES } from './rate-limiter.ts'
import type { Socket } from 'node:net'
import { errorCode } from '../lib/error-code.ts'

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

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void

/** One route. The first route whose `matches` is true handles the request. */
export interface Route {
  matches: (pathname: string) => boolean
  handle: Handler
}

/** @param refused limits how fast unwanted bytes are read */
export function createHttpServer(routes: () => readonly Route[], log: Log, refused: RateLimiter) {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CUT_LOOK_MS,
      maxHeaderSize: HEAD_BYTES_MAX,
    },
    (request, response) => {
      if (!connections.admits(response)) return
      measureUnread(request, response, refused)
      // When stopping, even busy connections must close. After a request to upgrade, another protocol may follow.
      if (!server.listening || request.headers.upgrade !== undefined) response.setHeader('connection', 'close')
      dispatch(routes(), request, response, log)
    },
  )
  const connections = boundConnections(server)
  answerMalformed(server, refused, connections.underWay)
  server.setTimeout(UNREAD_MS)
  return {
    /** @param host null: all interfaces */
    listen: (port: number, host: string | null) => listen(server, port, host),
    /** Accepts no new requests. Resolves when those in flight are answered, or after `graceMs`: it cuts them off then. */
    close: (graceMs: number) => close(server, graceMs),
  }
}

/** Node would read the rest of an answered request's body at full speed, to get to the next request: limit that. */
function measureUnread(request: IncomingMessage, response: ServerResponse, refused: RateLimiter): void {
  response.once('prefinish', () => {
    // If the connection closes after this response, Node reads no more of it.
    if (request.complete || !response.shouldKeepAlive) return
    const countBytes = refused.open(request)
    request.on('data', (piece: Buffer) => {
      countBytes(piece.length)
      giveBack(piece)
    })
  })
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
    const url = URL.parse(request.url ?? '/', 'http://localhost')
    const route = url && routes.find(({ matches }) => matches(url.pathname))
    if (url && route) route.handle(request, response, url)?.catch(failed)
    else sendJson(response, 404, { status: 'not found' })
  } catch (error) {
    failed(error)
  }
}

function refuseHeaders(response: ServerResponse): void {
  response.setHeader('connection', 'close')
  sendJson(response, 431, { status: 'refused', reason: `a request may have ${HEADERS_MAX} headers` })
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}

const listen = (server: Server, port: number, host: string | null): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, ...(host === null ? {} : { host }) }, () => {
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

/** HTTP statuses for errors of Node's request parser. Any other error means that it was no HTTP: 400. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/**
 * Answers malformed and incomplete requests as Node would, and ends their connections, but only after the rate
 * limiter's wait: a head that is too large costs more than a delivery, and a client sends the next when it is answered.
 * @param underWay the responses on a connection that have not ended
 */
function answerMalformed(
  server: Server,
  refused: RateLimiter,
  underWay: (socket: Socket) => readonly ServerResponse[],
): void {
  const ending = new WeakSet<Socket>()

  async function endInTurn(socket: Socket, fault: Fault): Promise<void> {
    const cost = costOf(fault)
    if (fault.rawPacket) giveBack(fault.rawPacket)
    await refused.turnOf(socket, cost)
    const before = underWay(socket)
    // Earlier requests on the connection are answered first. The one that broke may have been answered already.
    await Promise.all(before.filter(({ req }) => req.complete).map(ended))
    const isAnswered = before.some(({ req, headersSent }) => headersSent && !req.complete)
    if (socket.writable && !isAnswered) socket.write(answerOf(STATUSES[fault.code ?? ''] ?? 400))
    socket.destroy(fault)
  }

  server.on('clientError', (fault: Fault, socket: Socket) => {
    // After the first error, each further piece on the connection is an error of its own.
    if (ending.has(socket)) return
    ending.add(socket)
    socket.pause()
    void endInTurn(socket, fault)
  })
}

const ended = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => void response.once('close', resolve))

interface Fault extends Error {
  code?: string
  /** the bytes that were read when the error was found */
  rawPacket?: Buffer
}

/** More than AT_ONCE_BYTES, so that the rate limiter makes each of them wait. */
const costOf = ({ rawPacket }: Fault): number => (rawPacket ? AT_ONCE_BYTES + rawPacket.length : 0)

const answerOf = (status: number): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`

/** How many connections may be open. */
export const CONNECTIONS_MAX = 1_000

/** How many requests of one connection may wait for responses. A client that wants its responses sends fewer. */
export const WAITING_MAX = 16

/**
 * Limits what connections can hold. At CONNECTIONS_MAX, a new connection replaces the one whose last request is the
 * oldest, so that nobody can keep others out with idle connections. A connection with more than WAITING_MAX waiting
 * requests is closed.
 */
function boundConnections(server: Server) {
  // Ordered by their last request; each with its responses that have not ended.
  const open = new Map<Socket, Set<ServerResponse>>()

  server.on('connection', (socket: Socket) => {
    if (open.size >= CONNECTIONS_MAX) idlest(open).destroy()
    open.set(socket, new Set())
    socket.once('close', () => open.delete(socket))
  })

  return {
    /** Whether to answer a request. Must be called for each request, before anything else. */
    admits(response: ServerResponse): boolean {
      const { socket } = response.req
      const waiting = open.get(socket)
      // Node still parses what came in one piece with the request that was one too many.
      if (!waiting || socket.destroyed) return false
      waiting.add(response)
      response.once('close', () => waiting.delete(response))
      open.delete(socket)
      open.set(socket, waiting)
      if (waiting.size > WAITING_MAX) socket.destroy()
      return !socket.destroyed
    },
    /** The responses on a connection that have not ended. */
    underWay: (socket: Socket): readonly ServerResponse[] => [...(open.get(socket) ?? [])],
  }
}

/** The connection whose last request is the oldest; preferably one without a complete request. */
function idlest(open: ReadonlyMap<Socket, ReadonlySet<ServerResponse>>): Socket {
  let oldest: Socket | null = null
  for (const [socket, waiting] of open) {
    if (socket.destroyed) continue
    if (![...waiting].some(({ req }) => req.complete)) return socket
    oldest ??= socket
  }
  return oldest ?? open.keys().next().value!
}

/** Why a server could not listen, in words; null for an error that is not about its address. */
export function listenFault(error: unknown, port: number): string | null {
  const at = error instanceof Error && 'port' in error ? Number(error.port) : port
  const code = errorCode(error)
  if (code === 'EADDRINUSE') return `port ${at} is taken by another program`
  if (code === 'EACCES') return `this user may not open port ${at}`
  return code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? 'HOST is no address of this machine' : null
}
