import type { Clock } from './clock.ts'
import { lateAfter } from './in-time.ts'

/** Those that come within this time go by one timer: whoever comes last is waited for by as much less. */
const SHARED_MS = 100

/**
 * `inTime` for very much work, all of it with one limit: a timer and a signal for each piece would cost as much as the
 * piece. Rejects where the work has come to nothing after `ms`, or up to 100 ms earlier.
 */
export function createPatience(clock: Clock, ms: number): <T>(work: Promise<T>) => Promise<T> {
  let newest: Group | null = null

  function begin(): Group {
    const over = new AbortController()
    const group = { size: 0, over, late: lateAfter(clock, ms, over.signal) }
    void clock.sleep(SHARED_MS, over.signal).then(() => leave(group))
    return group
  }

  function leave(group: Group): void {
    if (newest === group) newest = null
  }

  return async <T>(work: Promise<T>): Promise<T> => {
    const group = (newest ??= begin())
    group.size++
    try {
      return await Promise.race([work, group.late])
    } finally {
      group.size--
      if (group.size === 0) {
        leave(group)
        group.over.abort('over')
      }
    }
  }
}

interface Group {
  size: number
  over: AbortController
  late: Promise<never>
}
