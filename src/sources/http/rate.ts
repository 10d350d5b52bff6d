import type { Dispatcher } from 'undici'

/** How many calls are left until the limit resets. */
export interface Rate {
  limit: number
  left: number
  /** ms since the epoch */
  resetAt: number
}

/** From the headers of GitHub (`X-RateLimit-…`) and GitLab (`RateLimit-…`); null if they are missing. */
export function rateIn(headers: Dispatcher.ResponseData['headers']): Rate | null {
  const numberOf = (name: string) =>
    Number(headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`] ?? Number.NaN)
  const [limit, left, resetS] = [numberOf('limit'), numberOf('remaining'), numberOf('reset')]
  return limit > 0 && left >= 0 && resetS > 0 ? { limit, left, resetAt: resetS * 1_000 } : null
}
