import type { Search } from '../notifier.ts'

/** Slack's clock stamps the messages, ours the claims; and ours may be set while a claim is open. */
export interface TheirClock {
  /** An answer came, which says in `date` when it was given. */
  heard(headers: Pick<Headers, 'get'>): void
  /** The time to search: as we had it, and as Slack had it. */
  widened(search: Search): Search
}

/** @param now our own clock (ms) */
export function createTheirClock(now: () => number): TheirClock {
  let aheadMs = 0
  return {
    heard(headers) {
      const theirs = Date.parse(headers.get('date') ?? '')
      if (Number.isFinite(theirs)) aheadMs = theirs - now()
    },
    widened({ untilMs, sinceMs, ...search }) {
      const until = untilMs === undefined ? {} : { untilMs: untilMs + Math.max(0, aheadMs) }
      return { ...search, ...until, sinceMs: sinceMs + Math.min(0, aheadMs) }
    },
  }
}
