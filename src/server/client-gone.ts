import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../lib/clock.ts'
import { giveBack } from './memory.ts'
import { AT_ONCE_BYTES, type RateLimiter } from './rate-limiter.ts'

/** How long to wait: after a pause, Node reads requests before it notices that their connections have closed. */
const MOMENT_MS = 20

/**
 * Whether the client has closed the connection, which Node notices only after a moment. After a pause, this process
 * finds requests that clients have since sent to another process. Handled this late, they would be news.
 */
export async function isClientGone({ socket }: IncomingMessage, clock: Clock): Promise<boolean> {
  await clock.sleep(MOMENT_MS)
  return socket.destroyed || socket.readableEnded || socket.writableEnded
}

/** A connection with an unwanted body is closed after this time, or after this many bytes. */
const LINGER_MS = 2_000
const LINGER_BYTES_MAX = 8 * 1024 * 1024

/**
 * Ends the response to a request whose body is not wanted, and then its connection. Closing it while the client still
 * sends would lose the response, so the rest of the body is read and dropped for a while. If much was read before the
 * refusal, the rate limiter delays the answer, because an answered client sends the next request.
 * @param response its head is written, with `connection: close` and a length
 */
export function endUnread(
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  rateLimiter: RateLimiter,
): void {
  if (request.complete || request.destroyed) {
    void rateLimiter.turnOf(request.socket, request.readableLength).then(() => response.end(text))
    return
  }
  let bytes = 0
  let isWritten = false
  const countBytes = rateLimiter.open(request, writeAnswer)
  const timer = setTimeout(end, LINGER_MS)
  request.on('data', (piece: Buffer) => {
    const { length } = piece
    giveBack(piece)
    bytes += length
    if (bytes > LINGER_BYTES_MAX) end()
    else countBytes(length)
  })
  request.once('end', end)
  request.once('close', end)
  if (request.readableLength <= AT_ONCE_BYTES) writeAnswer()
  request.resume()

  function writeAnswer(): void {
    if (!isWritten) response.write(text)
    isWritten = true
  }

  function end(): void {
    clearTimeout(timer)
    if (response.writableEnded) return
    writeAnswer()
    response.end()
  }
}
