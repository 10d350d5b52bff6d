import { Agent, request } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import type { Switches } from './switches.ts'

/** One POST of a delivery and its response. `errorCode` is `timeout`, a socket error's code, or `failed`. */
export type SendAttempt =
  | { kind: 'answered'; at: number; ms: number; statusCode: number; body: string }
  | { kind: 'failed'; at: number; ms: number; errorCode: string }

/** Posts a JSON body. Retries up to `deliveryRetriesMax` times until the response is 2xx. */
export interface Sender {
  send(url: string, body: string, onAttempt: (attempt: SendAttempt) => void): Promise<void>
  close(): Promise<void>
}

/** A response is cut to this many bytes. */
export const ANSWER_BYTES_MAX = 16 * 1024
const CONNECTIONS_MAX = 32

export function createSender({ clock, switches }: { clock: Clock; switches: () => Switches }): Sender {
  const agent = new Agent({ connections: CONNECTIONS_MAX })
  const closing = new AbortController()

  async function send(url: string, body: string, onAttempt: (attempt: SendAttempt) => void): Promise<void> {
    for (let retry = 0; !closing.signal.aborted; retry++) {
      const attempt = await post(url, body)
      onAttempt(attempt)
      if (isAccepted(attempt) || retry >= switches().deliveryRetriesMax) return
      await clock.sleep(switches().deliveryRetryMs * 2 ** retry, closing.signal)
    }
  }

  async function post(url: string, body: string): Promise<SendAttempt> {
    const at = clock.now()
    try {
      const answer = await exchange(url, body)
      return { kind: 'answered', at, ms: clock.now() - at, ...answer }
    } catch (error) {
      return { kind: 'failed', at, ms: clock.now() - at, errorCode: errorCode(error) }
    }
  }

  async function exchange(url: string, body: string) {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(switches().deliveryTimeoutMs)])
    const headers = { 'content-type': 'application/json', 'user-agent': 'ci-webhook' }
    const response = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal })
    return { statusCode: response.statusCode, body: await readAtMost(response.body) }
  }

  async function close(): Promise<void> {
    closing.abort()
    await agent.destroy()
  }

  return { send, close }
}

const isAccepted = (attempt: SendAttempt): boolean =>
  attempt.kind === 'answered' && attempt.statusCode >= 200 && attempt.statusCode < 300

async function readAtMost(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= ANSWER_BYTES_MAX) break
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString('utf8')
}

function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  if (error.name === 'TimeoutError') return 'timeout'
  return 'code' in error && typeof error.code === 'string' ? error.code : 'failed'
}
