/**
 * Exponential backoff with full jitter in the upper half: between half and all of `baseMs · 2^attempt`, at most `maxMs`.
 * `attempt` counts from 0; `random` is uniform in [0, 1).
 */
export function backoffMs(attempt: number, random: number, { baseMs = 500, maxMs = 60_000 } = {}): number {
  const ceilingMs = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30))
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * random)
}
