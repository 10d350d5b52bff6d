import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { boundConnections } from './connections.ts'
import { giveBack } from './give-back.ts'
import type { Log } from '../lib/log.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { answerNoRequests } from './bad-request.ts'

/** Slow headers and slow bodies are cut off: an idle stranger must not hold a socket for long. */
export const HEADERS_TIMEOUT_MS = 10_000
export const REQUEST_TIMEOUT_MS = 25_000
export const CUT_LOOK_MS = 2_000
export const KEEP_ALIVE_MS = 65_000

/** Whoever does not read an answer is waited for no longer; the longest answer, a database's time limit, takes less. */
export const UNREAD_MS = 45_000

/** The head of a request: its first line and all headers together, and how many there may be. */
export const HEAD_BYTES_MAX = 8 * 1024
export const HEADERS_MAX = 100

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void

/** A place in the contract: the first route that `matches` answers. */
export interface Route {
  matches: (pathname: string) => boolean
  handle: Handler
}

export interface HttpServer {
  /** @param host null: all interfaces */
  listen(port: number, host: string | null): Promise<number>
  /** Takes no new requests; resolves when those under way are answered, or after `graceMs` without them. */
  close(graceMs: number): Promise<void>
}

/** @param refused the measure at which what nobody wants is read */
export function createHttpServer(routes: readonly Route[], log: Log, refused: RateLimiter): HttpServer {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CUT_LOOK_MS,
      maxHeaderSize: HEAD_BYTES_MAX,
    },
    (request, response) => {
      if (!connections.isAnswered(response)) return
      measureUnread(request, response, refused)
      // A sender that keeps its connection busy would be served on and on; of who asks for another protocol nothing more is read.
      if (!server.listening || request.headers.upgrade !== undefined) response.setHeader('connection', 'close')
      dispatch(routes, request, response, log)
    },
  )
  const connections = boundConnections(server)
  answerNoRequests(server, refused, connections.underWay)
  server.setTimeout(UNREAD_MS)
  return {
    listen: (port, host) => listen(server, port, host),
    close: (graceMs) => close(server, graceMs),
  }
}

/** What is left of an answered request's body Node would read for the next one on the connection, as fast as it comes. */
function measureUnread(request: IncomingMessage, response: ServerResponse, refused: RateLimiter): void {
  response.once('prefinish', () => {
    // Where the connection ends with this answer, nothing more of it is read.
    if (request.complete || !response.shouldKeepAlive) return
    const tookOf = refused.open(request)
    request.on('data', (piece: Buffer) => {
      tookOf(piece.length)
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
    // Names and values in turn. Node leaves headers beyond its own bound out without a word.
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
