import type { IncomingMessage } from 'node:http'
import type { Clock } from '../lib/clock.ts'

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
