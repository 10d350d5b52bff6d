import { randomUUID } from 'node:crypto'
import type { Json } from '../json.ts'

/** A request over a socket, before it has an id. */
export interface Envelope {
  type: 'slash_commands' | 'interactive' | 'events_api'
  payload: Json
  /** the number of this retry and its reason; only for events */
  retry?: { attempt: number; reason: string }
}

/** An envelope as it is sent. */
export type Frame = Json & { envelope_id: string; type: Envelope['type'] }

/** Slack accepts a payload in the acknowledgement of commands and interactions, but not of events. */
export function toFrame({ type, payload, retry = { attempt: 0, reason: '' } }: Envelope): Frame {
  const isEvent = type === 'events_api'
  return {
    envelope_id: randomUUID(),
    type,
    payload,
    accepts_response_payload: !isEvent,
    ...(isEvent ? { retry_attempt: retry.attempt, retry_reason: retry.reason } : {}),
  }
}

/** The retry of an event, with a new id and a higher `retry_attempt`. */
export const retryOf = (frame: Frame, retries: number): Frame => ({
  ...frame,
  envelope_id: randomUUID(),
  retry_attempt: Number(frame['retry_attempt']) + retries,
  retry_reason: 'connection_failed',
})
