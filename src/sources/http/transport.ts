import type { Agents } from './agents.ts'
import { backoffMs } from '../../lib/async.ts'
import type { Clock } from '../../lib/clock.ts'
import { abortReason, CiError, type CiErrorKind } from './errors.ts'
import { exchange, type CiRequest, type CiResponse } from './exchange.ts'

export interface TransportLimits {
  connectTimeoutMs: number
  headersTimeoutMs: number
  /** Between two pieces of a body. */
  bodyTimeoutMs: number
  /** For one call with all its tries and waits. */
  deadlineMs: number
  triesMax: number
  responseBytesMax: number
  connectionsMax: number
}

export const TRANSPORT_LIMITS: TransportLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  deadlineMs: 30_000,
  triesMax: 3,
  responseBytesMax: 16 * 1024 * 1024,
  connectionsMax: 16,
}

export interface Transport {
  /**
   * Sends a request; a GET up to `triesMax` times, a write exactly once. Waits as long as CI asks (`Retry-After`), and gives up
   * at once when that is longer than the deadline leaves. Throws a CiError, or the signal's own reason when it aborts.
   */
  send(request: CiRequest, signal?: AbortSignal): Promise<CiResponse>
  /** Ends at once; what is under way fails. */
  close(): Promise<void>
}

/**
 * The one way to CI: bounded in time, size, tries and connections. `random` is uniform in [0, 1); `retried` hears why
 * something is asked again.
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
  // The client for HTTP is large, and the webhook endpoint must not wait for it: it is loaded with the first request.
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
  // A write may have been done although its answer was lost; only its caller can look that up.
  if (request.method !== 'GET' || tries >= triesMax) return null
  if (!(error instanceof CiError) || !error.retryable) return null
  return Math.max(error.retryAfterMs ?? 0, backoffMs(tries - 1, random))
}

/** How a call to CI ended: `stopped` where the caller no longer wanted to know. */
export type CiCallEnd = 'ok' | 'stopped' | CiErrorKind

/** Tells how each call to CI ended and what it took (ms), with all its tries. */
export const countedTransport = (transport: Transport, count: (end: CiCallEnd, ms: number) => void): Transport => ({
  ...transport,
  async send(request, signal) {
    const beganAt = performance.now()
    const tell = (end: CiCallEnd) => count(end, performance.now() - beganAt)
    try {
      const answer = await transport.send(request, signal)
      tell('ok')
      return answer
    } catch (error) {
      tell(error instanceof CiError ? endOf(error) : 'stopped')
      throw error
    }
  },
})

/** 304, not modified, is no failure. */
const endOf = ({ kind, status }: CiError): CiCallEnd => (status === 304 ? 'ok' : kind)

/** Tells how each question to CI ended; what is to change something says nothing of the way itself. */
export const watchedTransport = (transport: Transport, note: (trouble: CiErrorKind | null) => void): Transport => ({
  ...transport,
  async send(request, signal) {
    try {
      const answer = await transport.send(request, signal)
      if (request.method === 'GET') note(null)
      return answer
    } catch (error) {
      if (request.method === 'GET' && error instanceof CiError) note(error.kind)
      throw error
    }
  },
})
