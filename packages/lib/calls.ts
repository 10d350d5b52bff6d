import type { Call } from './http.ts'

/** A request that the sandbox received. `statusCode` 0: it got no response; the connection was closed or left open. */
export interface CallRecord {
  n: number
  method: string
  path: string
  /** without the api_key */
  query: string
  body: string
  statusCode: number
}

/** A log of the received requests, so that tests can check which were made and how often. */
export interface Calls {
  record(call: Call, statusCode: number): void
  /** oldest first */
  list(): readonly CallRecord[]
  clear(): void
}

/** How many calls are kept; further ones push out the oldest. */
export const CALLS_MAX = 1_000

export function createCalls(): Calls {
  let calls: CallRecord[] = []
  let lastN = 0

  function record(call: Call, statusCode: number): void {
    const query = new URLSearchParams(call.query)
    query.delete('api_key')
    calls.push({ n: ++lastN, method: call.method, path: call.path, query: String(query), body: call.text, statusCode })
    if (calls.length > CALLS_MAX) calls.shift()
  }

  function clear(): void {
    calls = []
    lastN = 0
  }

  return { record, list: () => calls, clear }
}
