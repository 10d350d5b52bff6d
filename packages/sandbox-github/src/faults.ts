import { z } from 'zod'
import { json } from '../../lib/http.ts'
import type { Call, Reply } from '../../lib/http.ts'
import { refuse } from './api.ts'
import type { World } from './world.ts'

const whole = z.int().min(0)
const status = z.literal([403, 429]).optional()
/** The next `calls` calls get a rate limit error with 403 (the default) or 429. GitHub uses both. */
export const limitSchema = z.strictObject({ calls: whole, retryAfterS: whole, status })

export type Faults = ReturnType<typeof createFaults>

interface Failing {
  calls: number
  statusCode: number
  method: string | null
}

const RATE_MAX = 5_000
const HOUR_MS = 3_600_000

/** Faults on request, and the call count of GitHub's rate limit. */
export function createFaults(world: World) {
  let limited: z.infer<typeof limitSchema> = { calls: 0, retryAfterS: 0 }
  let failing: Failing = { calls: 0, statusCode: 500, method: null }
  let isOut = false
  let lost = 0
  let used = 0

  const rateNow = () => {
    const hour = Math.floor(world.clock.now() / HOUR_MS)
    return { limit: RATE_MAX, remaining: Math.max(0, RATE_MAX - used), reset: ((hour + 1) * HOUR_MS) / 1000, used }
  }
  const headers = (): Record<string, string> =>
    Object.fromEntries(Object.entries(rateNow()).map(([name, count]) => [`x-ratelimit-${name}`, String(count)]))

  /** The error that this call gets instead of its response, if any. */
  function meet({ method }: Call): Reply | undefined {
    if (limited.calls > 0) {
      limited.calls--
      const { retryAfterS } = limited
      const reset = String(Math.ceil(world.clock.now() / 1000) + retryAfterS)
      const reply = refuse(limited.status ?? 403, 'API rate limit exceeded for user ID 1.')
      const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset, 'retry-after': String(retryAfterS) }
      return { ...reply, headers: { ...reply.headers, ...spent } }
    }
    if (failing.calls === 0 || (failing.method ?? method) !== method) return undefined
    failing.calls--
    return refuse(failing.statusCode, 'A fault was switched on')
  }

  return {
    limit: (wanted: typeof limited) => void (limited = { ...wanted }),
    /** The next `calls` calls get this status; null: of every method. */
    failNext: (calls: number, statusCode: number, method: string | null = null) =>
      void (failing = { calls, statusCode, method }),
    /** During an outage, calls get no response: their connection is closed. */
    setOutage: (value: boolean) => void (isOut = value),
    isOut: () => isOut,
    /** The next `calls` writes are carried out, and their connection is closed without a response. */
    loseNext: (calls: number) => void (lost = calls),
    /** Whether the response to this call is lost. */
    loses: ({ method, path }: Call): boolean => method !== 'GET' && !path.startsWith('/app/') && lost > 0 && lost-- > 0,
    meet,
    spend: (calls: number) => void (used += calls),
    /** Counts a call. Only `limit` refuses calls, not this count. */
    count: () => void used++,
    headers,
    rate: () => json(200, { resources: { core: rateNow(), search: rateNow() }, rate: rateNow() }),
  }
}
