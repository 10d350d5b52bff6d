import type { Clock } from '../lib/clock.ts'
import { timeoutError } from '../lib/async.ts'

/** Work that comes within this time shares one timer: the last piece is given up earlier by as much. */
const SHARED_MS = 100

/**
 * `inTime` for very much work, all of it with one limit: a timer and a signal for each piece would cost as much as the
 * piece. Rejects where the work has come to nothing after `ms`, or up to 100 ms earlier.
 */
export function createTimeLimit(clock: Clock, ms: number): TimeLimit {
  let newest: Group | null = null
  let waiting = 0

  function begin(): Group {
    const over = new AbortController()
    const group: Group = { waiting: new Set(), over }
    void clock.sleep(SHARED_MS, over.signal).then(() => leave(group))
    void clock.sleep(ms, over.signal).then(() => giveUp(group))
    return group
  }

  /** Once it is over nobody waits in it. */
  function giveUp(group: Group): void {
    const given = [...group.waiting]
    group.waiting.clear()
    waiting -= given.length
    for (const reject of given) reject(timeoutError(ms))
  }

  function leave(group: Group): void {
    if (newest === group) newest = null
  }

  function inTime<T>(work: Promise<T>): Promise<T> {
    const group = (newest ??= begin())
    return new Promise<T>((resolve, reject) => {
      group.waiting.add(reject)
      waiting++
      const ended = () => {
        // Work that was given up is no longer counted as waiting.
        if (group.waiting.delete(reject)) waiting--
        if (group.waiting.size > 0) return
        leave(group)
        group.over.abort('over')
      }
      work.then(resolve, reject)
      work.then(ended, ended)
    })
  }

  return { inTime, waiting: () => waiting }
}

export interface TimeLimit {
  inTime<T>(work: Promise<T>): Promise<T>
  /** How much is waited for now. */
  waiting(): number
}

interface Group {
  /** what tells each that waits that it waits in vain */
  waiting: Set<(reason: Error) => void>
  over: AbortController
}
