import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** What was signed longer ago than this, or by a clock that is further ahead, is refused: Slack's own rule. */
export const SIGNED_WITHIN_S = 5 * 60

/** What a request says of its signature. */
export interface Signature {
  timestamp: string
  hex: string
}

/** The signature that a request brings; null: none, of another form, or too old to count, whatever the body is. */
export function signatureIn(headers: IncomingHttpHeaders, nowMs: number): Signature | null {
  const timestamp = headers['x-slack-request-timestamp']
  const signature = headers['x-slack-signature']
  if (typeof timestamp !== 'string' || typeof signature !== 'string') return null
  const hex = /^v0=([0-9a-f]{64})$/.exec(signature)?.[1]
  if (hex === undefined || !/^\d{1,12}$/.test(timestamp)) return null
  return Math.abs(nowMs / MS_PER_S - Number(timestamp)) <= SIGNED_WITHIN_S ? { timestamp, hex } : null
}

/** Is this the signature of exactly these bytes? It takes the same time whichever digit is wrong. */
export function isSignedBy(signingSecret: string, { timestamp, hex }: Signature, bytes: Buffer): boolean {
  const ours = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(bytes).digest()
  return timingSafeEqual(ours, Buffer.from(hex, 'hex'))
}

const MS_PER_S = 1_000
