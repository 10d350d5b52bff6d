import { refuse } from './errors.ts'
import type { Reply } from '../../lib/http.ts'
import type { World } from './world.ts'

/** Counts calls per fixed window. Beyond the limit it answers as the switch `rateLimit` says. */
export interface RateLimit {
  /** Counts a call. Returns the error response if the call is over the limit. */
  check(): Reply | undefined
  clear(): void
}

export function createRateLimit(world: World): RateLimit {
  let windowStart = 0
  let requests = 0

  function check(): Reply | undefined {
    if (world.switches.rateLimit === 'off') return undefined
    const now = world.clock.now()
    if (now - windowStart >= world.switches.rateLimitWindowMs) [windowStart, requests] = [now, 0]
    requests += 1
    if (requests <= world.switches.rateLimitRequestsMax) return undefined
    return limited(world, Math.ceil((windowStart + world.switches.rateLimitWindowMs - now) / 1000))
  }

  const clear = () => void (requests = 0)

  return { check, clear }
}

function limited(world: World, retryAfterS: number): Reply {
  const isForbidden = world.switches.rateLimit === '403'
  const reply = refuse(world.switches, isForbidden ? 403 : 429, 'rate limit exceeded')
  if (isForbidden) return { ...reply, reason: 'Forbidden (rate limit exceeded)' }
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterS) } }
}
