import type { Clock } from '../../../lib/clock.ts'
import type { Acknowledgement } from '../acknowledgement.ts'
import { isJson } from '../json.ts'
import { retryOf } from './envelope.ts'
import type { Frame } from './envelope.ts'
import type { FrameEnd } from './link.ts'
import type { SocketDoor } from './sockets.ts'

/** How often an event is retried on another connection, if its connection ends before the acknowledgement. */
export const EVENT_RETRIES_MAX = 3

export interface SocketDelivery {
  clock: Clock
  sockets: SocketDoor
  ackTimeoutMs: number
}

/**
 * Sends an envelope and returns the bot's acknowledgement, as over HTTP. Without an open connection, a command or an
 * interaction is `unreachable` at once (the person sees an error); an event waits for a connection, as long as for an
 * acknowledgement.
 */
export async function deliverFrame(delivery: SocketDelivery, what: string, frame: Frame): Promise<Acknowledgement> {
  const { clock, sockets, ackTimeoutMs } = delivery
  const startedMs = clock.now()
  const end = await (frame.type === 'events_api' ? sendEvent(delivery, frame) : sockets.deliver(frame, ackTimeoutMs))
  return toAcknowledgement(end, { what, elapsedMs: clock.now() - startedMs })
}

async function sendEvent({ sockets, ackTimeoutMs }: SocketDelivery, frame: Frame): Promise<FrameEnd | null> {
  let end: FrameEnd | null = null
  for (let retries = 0; retries <= EVENT_RETRIES_MAX; retries += 1) {
    if (!(await sockets.whenOpen(ackTimeoutMs))) return end
    end = await sockets.deliver(retries === 0 ? frame : retryOf(frame, retries), ackTimeoutMs)
    if (end && end.kind !== 'lost') return end
  }
  return end
}

function toAcknowledgement(end: FrameEnd | null, sent: { what: string; elapsedMs: number }): Acknowledgement {
  if (end?.kind === 'late') return { kind: 'late', ...sent }
  if (end?.kind === 'acknowledged') return { kind: 'answered', ...sent, status: 200, body: bodyOf(end.payload) }
  const cause = new Error(end ? 'the connection ended before it acknowledged' : 'no Socket Mode connection is open')
  return { kind: 'unreachable', ...sent, cause }
}

/** An empty payload is an acknowledgement without content, like an empty body over HTTP. */
const bodyOf = (payload: unknown): string =>
  isJson(payload) && Object.keys(payload).length > 0 ? JSON.stringify(payload) : ''
