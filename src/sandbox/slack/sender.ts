import type { Clock } from '../../lib/clock.ts'
import { signedHeaders } from './sign.ts'

/** Slack waits so long for an answer. */
export const ACK_TIMEOUT_MS = 3_000

/** What came of one request to the bot. */
export type Acknowledgement =
  | {
      kind: 'answered'
      what: string
      status: number
      body: string
      elapsedMs: number
      /** the error with which Slack refuses what the answer asks for, if it does */
      refusal?: string
    }
  /** nothing within the ack timeout: the person saw "did not respond" */
  | { kind: 'late'; what: string; elapsedMs: number }
  | { kind: 'unreachable'; what: string; elapsedMs: number; cause: unknown }

export interface Outgoing {
  /** for the record: `command /ci`, `event app_mention` … */
  what: string
  contentType: 'application/json' | 'application/x-www-form-urlencoded'
  body: string
  headers?: Record<string, string>
  /** another secret than the right one, to see it refused */
  signingSecret?: string
  /** another time than now, to see a stale request refused */
  timestampS?: number
}

export interface Sender {
  connectBot(url: string): void
  /** Signs and sends one request to the bot; throws only when no bot is connected. */
  send(request: Outgoing): Promise<Acknowledgement>
  /** every request so far, in the order in which it ended */
  readonly acknowledgements: readonly Acknowledgement[]
}

export interface SenderOptions {
  clock: Clock
  signingSecret: string
  botUrl?: string | undefined
  ackTimeoutMs?: number | undefined
}

export function createSender(options: SenderOptions): Sender {
  const acknowledgements: Acknowledgement[] = []
  let botUrl = options.botUrl
  return {
    connectBot: (url) => void (botUrl = url),
    acknowledgements,
    send: async (request) => {
      if (botUrl === undefined) throw new Error('no bot is connected: give botUrl, or call connectBot')
      const acknowledgement = await deliver(options, botUrl, request)
      acknowledgements.push(acknowledgement)
      return acknowledgement
    },
  }
}

async function deliver(options: SenderOptions, botUrl: string, request: Outgoing): Promise<Acknowledgement> {
  const { clock, ackTimeoutMs = ACK_TIMEOUT_MS } = options
  const { what } = request
  const startedMs = clock.now()
  const elapsed = () => ({ what, elapsedMs: clock.now() - startedMs })
  try {
    const signal = AbortSignal.timeout(ackTimeoutMs)
    const response = await fetch(botUrl, {
      method: 'POST',
      headers: headersOf(options, request),
      body: request.body,
      signal,
    })
    return { kind: 'answered', ...elapsed(), status: response.status, body: await response.text() }
  } catch (cause) {
    const isLate = cause instanceof DOMException && cause.name === 'TimeoutError'
    return isLate ? { kind: 'late', ...elapsed() } : { kind: 'unreachable', ...elapsed(), cause }
  }
}

function headersOf({ clock, signingSecret }: SenderOptions, request: Outgoing): Record<string, string> {
  const timestampS = request.timestampS ?? Math.floor(clock.now() / 1_000)
  return {
    'content-type': request.contentType,
    'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
    ...signedHeaders(request.signingSecret ?? signingSecret, timestampS, request.body),
    ...request.headers,
  }
}
