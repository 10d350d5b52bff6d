import type { Clock } from '../../src/lib/clock.ts'
import type { Store, Tx } from '../../src/store/store.ts'

/** A clock that stands still until a test advances it. Sleepers wake in the order of time. */
export interface HandClock extends Clock {
  /** Advances the time: wakes one sleeper after the other, and lets everything settle in between. */
  advance(ms: number): Promise<void>
  /** Lets the work in progress at this moment finish. */
  settle(): Promise<void>
}

/** A loop that never sleeps would otherwise stop the clock forever. */
const ROUNDS_AT_ONE_MOMENT_MAX = 5_000

interface Sleeper {
  at: number
  order: number
  wake: () => void
}

/** @param pending how many operations wait for the event loop and not for this clock */
export function createHandClock(startAt: number, pending: () => number = () => 0): HandClock {
  const sleepers = new Set<Sleeper>()
  let now = startAt
  let order = 0

  // Promises that wait only for each other are done after one turn of the event loop.
  async function settle(): Promise<void> {
    let rounds = 0
    do {
      if (rounds++ > ROUNDS_AT_ONE_MOMENT_MAX) throw new Error('never comes to rest')
      await new Promise(setImmediate)
    } while (pending() > 0)
  }

  async function advance(ms: number): Promise<void> {
    const until = now + ms
    let rounds = 0
    await settle()
    for (let next = first(sleepers); next && next.at <= until; next = first(sleepers)) {
      rounds = next.at > now ? 0 : rounds + 1
      if (rounds > ROUNDS_AT_ONE_MOMENT_MAX) throw new Error('goes round and round without letting time pass')
      now = Math.max(now, next.at)
      next.wake()
      await settle()
    }
    now = until
  }

  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const sleeper = { at: now + Math.max(0, ms), order: order++, wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
        function wake() {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
      }),
    advance,
    settle,
  }
}

function first(sleepers: ReadonlySet<Sleeper>): Sleeper | undefined {
  let earliest: Sleeper | undefined
  for (const sleeper of sleepers)
    if (!earliest || sleeper.at < earliest.at || (sleeper.at === earliest.at && sleeper.order < earliest.order))
      earliest = sleeper
  return earliest
}

/** A store that counts its unfinished writes, which wait for the event loop and not for the clock. */
export function watched(store: Store): Store & { pending: () => number } {
  let pending = 0
  return {
    ...store,
    pending: () => pending,
    // A test's writes need no durability, and the speed of the disk must not decide the order of events.
    write: <T>(work: (tx: Tx) => Promise<T>) => {
      pending++
      return store.write(work, { canBeRedone: true }).finally(() => pending--)
    },
  }
}
