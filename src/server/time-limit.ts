import type { Clock } from '../lib/clock.ts'
import { timeoutError } from '../lib/async.ts'

/** Work that begins within this time shares one timer, so some of it times out up to this much earlier. */
const SHARED_MS = 100

interface Group {
  /** the `reject` of each piece of work */
  waiting: Set<(reason: Error) => void>
  over: AbortController
}

/**
 * `withTimeout` for very many pieces of work with the same limit: a timer and a signal for each would cost as much as
 * the work itself. Rejects if the work has not ended after `ms`, or up to 100 ms earlier.
 */
export function createTimeLimit(clock: Clock, ms: number) {
  let newest: Group | null = null
  let waiting = 0

  function begin(): Group {
    const group: Group = { waiting: new Set(), over: new AbortController() }
    void clock.sleep(SHARED_MS, group.over.signal).then(() => leave(group))
    void clock.sleep(ms, group.over.signal).then(() => giveUp(group))
    return group
  }

  function giveUp(group: Group): void {
    const given = [...group.waiting]
    group.waiting.clear()
    waiting -= given.length
    for (const reject of given) reject(timeoutError(ms))
  }

  function leave(group: Group): void {
    if (newest === group) newest = null
  }

  return {
    inTime<T>(work: Promise<T>): Promise<T> {
      const group = (newest ??= begin())
      return new Promise<T>((resolve, reject) => {
        group.waiting.add(reject)
        waiting++
        const ended = () => {
          // Work that has timed out no longer counts as waiting.
          if (group.waiting.delete(reject)) waiting--
          if (group.waiting.size > 0) return
          leave(group)
          group.over.abort('over')
        }
        work.then(resolve, reject)
        work.then(ended, ended)
      })
    },
    /** How many pieces of work are waited for now. */
    waiting: () => waiting,
  }
}
