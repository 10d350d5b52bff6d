import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../lib/clock.ts'
import { giveBack } from './memory.ts'
import { AT_ONCE_BYTES, type RateLimiter } from './rate-limiter.ts'

/** What came while the process slept is read before the news that the other side has gone. */
const MOMENT_MS = 20

/**
 * Whether the sender of this has gone, which shows after a moment. A process that slept finds what was sent to it
 * meanwhile. Since then it was sent to another process too: taken late, a repetition is news.
 */
export async function isClientGone({ socket }: IncomingMessage, clock: Clock): Promise<boolean> {
  await clock.sleep(MOMENT_MS)
  return socket.destroyed || socket.readableEnded || socket.writableEnded
}

/** A sender of an unwanted body gets this much time, and may send this much, until the connection is closed. */
const LINGER_MS = 2_000
const LINGER_BYTES_MAX = 8 * 1024 * 1024

/**
 * Ends an answer to a request whose body is not wanted, and the connection with it. What is still coming is taken and
 * thrown away for a while: a connection that is closed under who still sends takes the answer with it. Who has sent much is
 * answered when that has had its turn: it was read before anybody could refuse it, and who is answered sends the next.
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
  let isSaid = false
  const tookOf = rateLimiter.open(request, say)
  const timer = setTimeout(end, LINGER_MS)
  request.on('data', (piece: Buffer) => {
    const { length } = piece
    giveBack(piece)
    bytes += length
    if (bytes > LINGER_BYTES_MAX) end()
    else tookOf(length)
  })
  request.once('end', end)
  request.once('close', end)
  if (request.readableLength <= AT_ONCE_BYTES) say()
  request.resume()

  function say(): void {
    if (!isSaid) response.write(text)
    isSaid = true
  }

  function end(): void {
    clearTimeout(timer)
    if (response.writableEnded) return
    say()
    response.end()
  }
}
