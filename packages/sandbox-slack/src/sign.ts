import { createHmac } from 'node:crypto'

/** Slack's signature, version 0: `v0=` and the hex HMAC-SHA256 of `v0:<timestamp>:<body>` under the signing secret. */
export function signature(signingSecret: string, timestampS: number, body: string): string {
  const digest = createHmac('sha256', signingSecret).update(`v0:${timestampS}:${body}`).digest('hex')
  return `v0=${digest}`
}

/** The headers with which Slack signs a request. */
export const signedHeaders = (signingSecret: string, timestampS: number, body: string): Record<string, string> => ({
  'x-slack-request-timestamp': String(timestampS),
  'x-slack-signature': signature(signingSecret, timestampS, body),
})
