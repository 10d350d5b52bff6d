import { randomUUID } from 'node:crypto'
import type { Json } from '../json.ts'

/** What is told over a socket, before it has an id. */
export interface Envelope {
  type: 'slash_commands' | 'interactive' | 'events_api'
  payload: Json
  /** which repetition this is, and why; events only */
  retry?: { attempt: number; reason: string }
}

/** An envelope as it goes over the wire. */
export type Frame = Json & { envelope_id: string; type: Envelope['type'] }

/** Slack reads a payload only in the acknowledgement of what a person waits for; events get none. */
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

/** The event once more, under an id of its own, counted on. */
export const retryOf = (frame: Frame, retries: number): Frame => ({
  ...frame,
  envelope_id: randomUUID(),
  retry_attempt: Number(frame['retry_attempt']) + retries,
  retry_reason: 'connection_failed',
})
