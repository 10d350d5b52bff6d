import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Trickle } from './trickle.ts'

/** Whoever still sends a body that nobody wants gets so long, and may send so much, until the connection is closed. */
export const LINGER_MS = 2_000
export const LINGER_BYTES_MAX = 8 * 1024 * 1024

/**
 * Ends an answer to a request whose body is not wanted, and the connection with it. What is still coming is taken and
 * thrown away for a while: a connection that is closed under who still sends takes the answer with it.
 * @param response its head is written, with `connection: close` and a length
 */
export function endUnread(request: IncomingMessage, response: ServerResponse, text: string, trickle: Trickle): void {
  if (request.complete || request.destroyed) return void response.end(text)
  response.write(text)
  let bytes = 0
  const tookOf = trickle.open(request)
  const timer = setTimeout(end, LINGER_MS)
  request.on('data', ({ length }: Buffer) => {
    bytes += length
    if (bytes > LINGER_BYTES_MAX) end()
    else tookOf(length)
  })
  request.once('end', end)
  request.once('close', end)
  request.resume()

  function end(): void {
    clearTimeout(timer)
    if (!response.writableEnded) response.end()
  }
}
