import type { CallRecord } from '../../lib/calls.ts'
import { json } from '../../lib/http.ts'
import type { Call, Reply } from '../../lib/http.ts'

export type Faults = ReturnType<typeof createFaults>

const CALLS_MAX = 1_000

/** What goes wrong on demand, and the log of calls by which a test sees who asked for what. */
export function createFaults() {
  let limited = { calls: 0, retryAfterS: 0 }
  let failing = { calls: 0, statusCode: 500 }
  let rate: Record<string, string> = {}
  const calls: CallRecord[] = []
  let lastN = 0

  /** The reply that a call meets instead of its own. */
  function meet(): Reply | undefined {
    if (failing.calls > 0) {
      failing.calls -= 1
      return json(failing.statusCode, { message: `${failing.statusCode} on demand` })
    }
    if (limited.calls === 0) return undefined
    limited.calls -= 1
    const headers = { 'content-type': 'text/plain', 'retry-after': String(limited.retryAfterS) }
    return { statusCode: 429, headers, body: 'Retry later\n' }
  }

  function record({ method, path, query, text: body }: Call, statusCode: number): void {
    const size = calls.push({ n: ++lastN, method, path, query: query.toString(), body, statusCode })
    if (size > CALLS_MAX) calls.shift()
  }

  return {
    limit: (wanted: typeof limited) => void (limited = { ...wanted }),
    failNext: (n: number, statusCode: number) => void (failing = { calls: n, statusCode }),
    /** What each answer says is left, as GitLab.com's do; a self-managed GitLab may say nothing. */
    setRate: ({ limit, remaining, reset }: { limit: number; remaining: number; reset: number }) =>
      void (rate = {
        'ratelimit-limit': String(limit),
        'ratelimit-remaining': String(remaining),
        'ratelimit-reset': String(reset),
      }),
    rate: () => rate,
    meet,
    record,
    /** Those that GitLab was asked, oldest first; statusCode 0: the connection was closed. */
    calls: (): readonly CallRecord[] => calls,
  }
}
