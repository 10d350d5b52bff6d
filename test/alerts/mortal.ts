import type { Clock } from '../../src/lib/clock.ts'
import type { Notifier } from '../../src/slack/notifier.ts'
import type { Store, Tx } from '../../src/store/store.ts'

/** A process that can die, as by `kill -9`: what it waits for never comes back to it, what it sent goes its own way. */
export interface Life {
  kill(): void
  isDead(): boolean
  /** As by `kill -STOP`, after so many steps: it stands still, and knows nothing of it. @returns what lets it go on */
  pause(afterSteps?: number): () => void
  /** Whatever else the process calls, it may not live to see the end of it. */
  mortally: Mortally
}

interface World {
  store: Store
  notifier: Notifier
  clock: Clock
}

/**
 * The world as one process meets it.
 * @param fuse after so many steps (each beginning and each end of something awaited is one) the process dies
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

  // An error is no way back into the world of the living either.
  const rejectedOrNever = async <T>(promise: Promise<T>): Promise<T> => {
    try {
      return await promise
    } catch (error) {
      await outlives(null)
      throw error
    }
  }

  // What was not committed when the process died never is.
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

// One for each who waits: a promise that lives as long as the module would hold all who ever waited for it, and with them
// every world that a test has played.
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

/** What a test may do to the fake is no call of the process. */
const PLAIN = new Set(['meet', 'fate', 'close', 'open', 'lose'])
