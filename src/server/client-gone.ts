import type { IncomingMessage } from 'node:http'
import type { Clock } from '../lib/clock.ts'

/** What came while the process slept is read before the news that the other side has gone. */
const MOMENT_MS = 20

/**
 * Whether whoever sent this has gone, as is seen after a moment. A process that slept finds what was sent to it meanwhile,
 * and was sent to another one since: taken late, a repetition is news.
 */
export async function isClientGone({ socket }: IncomingMessage, clock: Clock): Promise<boolean> {
  await clock.sleep(MOMENT_MS)
  return socket.destroyed || socket.readableEnded || socket.writableEnded
}
