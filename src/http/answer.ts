import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { isWhole, giveBack } from './body.ts'
import type { Clock } from '../lib/clock.ts'

/** An unwanted body up to this size is read and dropped, so that its sender gets the answer undisturbed. */
const UNWANTED_BYTES_MAX = 64 * 1024

/** The sender of a larger one has this long to read its answer: closing earlier would destroy the answer. */
const LINGER_MS = 1_000

/**
 * Answers a request, with JSON unless the headers say otherwise. If the body was not read to its end, the connection
 * closes after the answer: reading the rest would cost more than a new connection.
 */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const { req: request } = response
  const isLast = !isWhole(request)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    ...headers,
    'content-length': Buffer.byteLength(text),
    ...(isLast && { connection: 'close' }),
  })
  if (!isLast || request.destroyed) return void response.end(text)
  response.flushHeaders()
  response.write(text)
  linger(request, response)
}

export const sendJson = (response: ServerResponse, status: number, body: object, headers?: OutgoingHttpHeaders): void =>
  sendText(response, status, JSON.stringify(body), headers)

function linger(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0
  const timer = setTimeout(end, LINGER_MS)
  request.on('data', (piece: Buffer) => {
    bytes += piece.length
    giveBack(piece)
    if (bytes > UNWANTED_BYTES_MAX) request.pause()
  })
  request.once('end', end)
  request.once('close', end)
  request.resume()

  function end(): void {
    clearTimeout(timer)
    if (!response.writableEnded) response.end()
  }
}

/** How long to wait: after a pause, Node reads requests before it notices that their connections have closed. */
const MOMENT_MS = 20

/**
 * Whether the client has closed the connection, which Node notices only after a moment. After a pause, this process
 * finds requests that clients have since sent to another process, and must not handle them as new.
 */
export async function isClientGone({ socket }: IncomingMessage, clock: Clock): Promise<boolean> {
  await clock.sleep(MOMENT_MS)
  return socket.destroyed || socket.readableEnded || socket.writableEnded
}
