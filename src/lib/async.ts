import type { Clock } from './clock.ts'

/** Work that is done once at a time: callers that ask while it runs share its result. */
export function singleFlight<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let underWay: Promise<Value> | null = null
  return () => (underWay ??= work().finally(() => (underWay = null)))
}

/** What the work comes to; rejects where it has come to nothing after `ms`. The work itself goes on. */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(() => {
    throw timeoutError(ms)
  })
  // Without a reason of ours an exception would be made for it.
  return Promise.race([work, late]).finally(() => over.abort('over'))
}

/** The error for a caller that has waited this long. */
export const timeoutError = (ms: number): Error => new Error(`no answer within ${ms} ms`)

/**
 * Exponential backoff with full jitter in the upper half: between half and all of `baseMs · 2^tries`, at most `maxMs`.
 * `tries` counts from 0; `random` is uniform in [0, 1).
 */
export function backoffMs(tries: number, random: number, { baseMs = 500, maxMs = 60_000 } = {}): number {
  const ceilingMs = Math.min(maxMs, baseMs * 2 ** Math.min(tries, 30))
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * random)
}
