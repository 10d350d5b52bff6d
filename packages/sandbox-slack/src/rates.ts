import type { Clock } from '../../lib/clock.ts'

/** `chat.postMessage`: a channel allows this many posts at once, and one more after each POST_GAP_MS. */
const POST_BURST = 3
export const POST_GAP_MS = 1_000
/** The sliding window of the other methods' limits. */
export const WINDOW_MS = 60_000
export const UPDATES_PER_WINDOW = 50
export const READS_PER_WINDOW = 50
export const CALLS_PER_WINDOW = 100

export interface RateOptions {
  /** divides the times of the limits: 10 makes the post gap 100 ms; default 1 */
  timeScale?: number
  /** how many posts a channel allows at once; default 3; 1 allows no burst */
  postBurst?: number
}

export interface Rates {
  /** Counts a call of a token. Null: admitted. Otherwise the call is not counted: returns the ms until one would be. */
  admit(call: { token: string; method: string; channel: string | undefined }): number | null
}

export const NO_RATES: Rates = { admit: () => null }

export function createRates(
  clock: Pick<Clock, 'now'>,
  { timeScale = 1, postBurst = POST_BURST }: RateOptions = {},
): Rates {
  const gapMs = POST_GAP_MS / timeScale
  const windowMs = WINDOW_MS / timeScale
  const nextFreeMs = new Map<string, number>()
  const arrivals = new Map<string, number[]>()
  return {
    admit: ({ token, method, channel }) =>
      method === 'chat.postMessage'
        ? admitPost(nextFreeMs, `${token} ${channel}`, { nowMs: clock.now(), gapMs, burst: postBurst })
        : admitCall(arrivals, `${token} ${method}`, { nowMs: clock.now(), windowMs, max: maxOf(method) }),
  }
}

interface Gap {
  nowMs: number
  gapMs: number
  burst: number
}

function admitPost(nextFreeMs: Map<string, number>, key: string, { nowMs, gapMs, burst }: Gap): number | null {
  const freeMs = Math.max(nextFreeMs.get(key) ?? 0, nowMs)
  const waitMs = freeMs - nowMs - (burst - 1) * gapMs
  if (waitMs > 0) return waitMs
  nextFreeMs.set(key, freeMs + gapMs)
  return null
}

interface Window {
  nowMs: number
  windowMs: number
  max: number
}

function admitCall(arrivals: Map<string, number[]>, key: string, { nowMs, windowMs, max }: Window): number | null {
  const recent = (arrivals.get(key) ?? []).filter((atMs) => atMs > nowMs - windowMs)
  const oldest = recent.at(-max)
  if (oldest !== undefined) return oldest + windowMs - nowMs
  arrivals.set(key, [...recent, nowMs])
  return null
}

const MAX_BY_METHOD = new Map([
  ['chat.update', UPDATES_PER_WINDOW],
  ['conversations.history', READS_PER_WINDOW],
  ['conversations.replies', READS_PER_WINDOW],
  ['users.lookupByEmail', READS_PER_WINDOW],
])

const maxOf = (method: string): number => MAX_BY_METHOD.get(method) ?? CALLS_PER_WINDOW
