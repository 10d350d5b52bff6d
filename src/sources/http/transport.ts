import type { Agents } from './agents.ts'
import { backoffMs } from '../../lib/async.ts'
import type { Clock } from '../../lib/clock.ts'
import { abortReason, CiError, type CiErrorKind } from './errors.ts'
import { exchange, type CiRequest, type CiResponse } from './exchange.ts'

export type TransportLimits = typeof TRANSPORT_LIMITS

export const TRANSPORT_LIMITS = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  /** Between two pieces of a body. */
  bodyTimeoutMs: 10_000,
  /** For one call with all its retries and waits. */
  deadlineMs: 30_000,
  triesMax: 3,
  responseBytesMax: 16 * 1024 * 1024,
  connectionsMax: 16,
}

export interface Transport {
  /**
   * Sends a request: a GET up to `triesMax` times, a write exactly once. Waits as long as CI asks (`Retry-After`), or
   * gives up at once if the deadline is earlier. Throws a CiError, or the signal's own reason if it aborts.
   */
  send(request: CiRequest, signal?: AbortSignal): Promise<CiResponse>
  /** Closes all connections at once. Requests in flight fail. */
  close(): Promise<void>
}

/**
 * The only way to call CI. It limits time, size, tries and connections. `random` is uniform in [0, 1); `retried` is
 * called with the reason for each retry.
 */
export function createTransport({
  clock,
  random = Math.random,
  limits: changed = {},
  retried = () => {},
}: {
  clock: Clock
  random?: () => number
  limits?: Partial<TransportLimits>
  retried?: (why: CiErrorKind) => void
}): Transport {
  const limits = { ...TRANSPORT_LIMITS, ...changed }
  // The HTTP client is large, and the webhook endpoint must not wait for it: it is loaded with the first request.
  let agents: Promise<Agents> | null = null
  const open = () => (agents ??= import('./agents.ts').then(({ openAgents }) => openAgents(limits)))
  return {
    async close() {
      const opened = await agents
      await Promise.all([opened?.read.destroy(), opened?.write.destroy()])
    },
    async send(request, signal) {
      const { read, write } = await open()
      const dispatcher = request.method === 'GET' ? read : write
      const deadlineAt = clock.now() + limits.deadlineMs
      for (let tries = 1; ; tries++) {
        try {
          const remainingMs = Math.min(limits.deadlineMs, deadlineAt - clock.now())
          return await exchange(dispatcher, request, { ...limits, deadlineMs: remainingMs, now: clock.now() }, signal)
        } catch (error) {
          const waitMs = waitBeforeRetryMs(error, { request, tries, triesMax: limits.triesMax, random: random() })
          if (waitMs === null || clock.now() + waitMs >= deadlineAt) throw error
          await clock.sleep(waitMs, signal)
          if (signal?.aborted) throw abortReason(signal, { purpose: request.purpose })
          if (error instanceof CiError) retried(error.kind)
        }
      }
    },
  }
}

function waitBeforeRetryMs(
  error: unknown,
  { request, tries, triesMax, random }: { request: CiRequest; tries: number; triesMax: number; random: number },
): number | null {
  // A write may have been done even if its answer was lost. Only the caller can check that.
  if (request.method !== 'GET' || tries >= triesMax) return null
  if (!(error instanceof CiError) || !error.retryable) return null
  return Math.max(error.retryAfterMs ?? 0, backoffMs(tries - 1, random))
}

/** How a call to CI ended. `stopped`: the caller aborted it. */
export type CiCallEnd = 'ok' | 'stopped' | CiErrorKind

/** Reports how each call to CI ended and how long it took (ms), with all its retries. */
export const observedTransport = (transport: Transport, ended: (end: CiCallEnd, ms: number) => void): Transport => ({
  ...transport,
  async send(request, signal) {
    const beganAt = performance.now()
    const countEnd = (end: CiCallEnd) => ended(end, performance.now() - beganAt)
    try {
      const answer = await transport.send(request, signal)
      countEnd('ok')
      return answer
    } catch (error) {
      countEnd(error instanceof CiError ? endOf(error) : 'stopped')
      throw error
    }
  },
})

/** 304, not modified, is not a failure. */
const endOf = ({ kind, status }: CiError): CiCallEnd => (status === 304 ? 'ok' : kind)
