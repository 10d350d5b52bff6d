import { createCalls } from '../../lib/calls.ts'
import { json } from '../../lib/http.ts'
import type { Call, Reply } from '../../lib/http.ts'

export type Faults = ReturnType<typeof createFaults>

interface Failing {
  calls: number
  statusCode: number
  method: string | null
}

/** Faults on request, and a log of the received calls for tests. */
export function createFaults() {
  let limited = { calls: 0, retryAfterS: 0 }
  let failing: Failing = { calls: 0, statusCode: 500, method: null }
  let rate: Record<string, string> = {}
  let lost = 0
  const calls = createCalls()

  /** The error that this call gets instead of its response, if any. */
  function meet({ method }: Call): Reply | undefined {
    if (failing.calls > 0 && (failing.method ?? method) === method) {
      failing.calls -= 1
      return json(failing.statusCode, { message: `${failing.statusCode} on demand` })
    }
    if (limited.calls === 0) return undefined
    limited.calls -= 1
    const headers = { 'content-type': 'text/plain', 'retry-after': String(limited.retryAfterS) }
    return { statusCode: 429, headers, body: 'Retry later\n' }
  }

  return {
    limit: (wanted: typeof limited) => void (limited = { ...wanted }),
    /** The next `n` calls get this status; null: of every method. */
    failNext: (n: number, statusCode: number, method: string | null = null) =>
      void (failing = { calls: n, statusCode, method }),
    /** Sets the rate limit headers of every response. GitLab.com sends them; a self-managed GitLab may not. */
    setRate: ({ limit, remaining, reset }: { limit: number; remaining: number; reset: number }) =>
      void (rate = {
        'ratelimit-limit': String(limit),
        'ratelimit-remaining': String(remaining),
        'ratelimit-reset': String(reset),
      }),
    rate: () => rate,
    /** The next `n` writes are carried out, and their connection is closed without a response. */
    loseNext: (n: number) => void (lost = n),
    /** Whether the response to this call is lost. */
    loses: ({ method }: Call): boolean => method !== 'GET' && lost > 0 && lost-- > 0,
    meet,
    record: calls.record,
    /** The received calls, oldest first; statusCode 0: the connection was closed. */
    calls: calls.list,
  }
}
