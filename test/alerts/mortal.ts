import type { Clock } from '../../src/lib/clock.ts'
import type { Notifier } from '../../src/slack/notifier.ts'
import type { Store, Tx } from '../../src/store/store.ts'

/** A process that can die as by `kill -9`: its pending calls never return, but what it sent still takes effect. */
export interface Life {
  kill(): void
  isDead(): boolean
  /** Stops it as `kill -STOP` does, after so many steps. @returns what lets it continue */
  pause(afterSteps?: number): () => void
  /** Wraps another call of the process, so that it too can die before or after it. */
  mortally: Mortally
}

interface World {
  store: Store
  notifier: Notifier
  clock: Clock
}

/**
 * Wraps everything that one process calls.
 * @param fuse the process dies after so many steps (each start and each end of an awaited call is one)
 */
export function mortal({ store, notifier, clock }: World, fuse: number): { life: Life; deps: World } {
  let left = fuse
  let stop: { left: number; until: Promise<void> } | null = null
  const isDead = () => left <= 0

  const outlives = <T>(value: T): T | Promise<T> => {
    left--
    if (isDead()) return never()
    return stop && stop.left-- <= 0 ? stop.until.then(() => (isDead() ? never() : value)) : value
  }

  function pause(afterSteps = 0): () => void {
    const { promise: until, resolve } = Promise.withResolvers<void>()
    stop = { left: afterSteps, until }
    return () => {
      if (stop?.until === until) stop = null
      resolve()
    }
  }

  const mortally =
    <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      await outlives(null)
      return outlives(await rejectedOrNever(call(...args)))
    }

  // A dead process must not see errors either.
  const rejectedOrNever = async <T>(promise: Promise<T>): Promise<T> => {
    try {
      return await promise
    } catch (error) {
      await outlives(null)
      throw error
    }
  }

  // A transaction that a dead process has open is rolled back.
  const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    store.write(async (tx) => {
      if (isDead()) throw new Error('the process died before the commit')
      return work(tx)
    })

  const deps: World = {
    store: { ...store, write: mortally(write), read: mapMethods(store.read, mortally) },
    notifier: mapMethods(notifier, mortally),
    clock: { now: clock.now, sleep: mortally((ms, signal) => clock.sleep(ms, signal)) },
  }
  return { life: { isDead, kill: () => void (left = 0), pause, mortally }, deps }
}

// A new promise for each caller: one shared promise would keep all waiting callers in memory, and with them each
// finished test.
const never = () => new Promise<never>(() => {})

type Mortally = <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) => (...args: Args) => Promise<T>

function mapMethods<Thing extends object>(thing: Thing, mortally: Mortally): Thing {
  const entries = Object.entries(thing).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'function' && !PLAIN.has(name)
      ? mortally(value as (...args: unknown[]) => Promise<unknown>)
      : value,
  ])
  return Object.fromEntries(entries) as Thing
}

/** Methods by which the test controls the fake; the process does not call them. */
const PLAIN = new Set(['meet', 'fate', 'close', 'open', 'lose'])
