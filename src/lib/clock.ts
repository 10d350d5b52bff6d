/** Time as the parts see it: passed in, so that a test can turn it by hand. Milliseconds since the epoch, UTC. */
export interface Clock {
  now(): number
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const timer = setTimeout(done, Math.max(0, ms))
      signal?.addEventListener('abort', done, { once: true })
      function done() {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
    }),
}

/** The clocks of a machine. */
interface MachineClocks {
  /** ms since the epoch, which people, programs and time servers set */
  set(): number
  /** ms since some moment, which nobody sets */
  running(): number
}

export const machineClocks: MachineClocks = { set: () => Date.now(), running: () => performance.now() }

/** A clock that is put right by another one: of several machines, each goes by the one database that they share. */
export interface AgreedClock extends Clock {
  /** Asks the other clock (ms), and goes by it from here on. */
  agree(ask: () => Promise<number>): Promise<void>
}

/** Clocks that differ by less are right. */
const DIFFER_MS = 20

export function createAgreedClock(own: Clock): AgreedClock {
  let aheadMs = 0
  return {
    now: () => own.now() + aheadMs,
    sleep: own.sleep,
    async agree(ask) {
      const requestedAt = own.now()
      const theirs = await ask()
      const answeredAt = own.now()
      // They looked at their clock some time in between: what can be right already stays as it is.
      const isRight = theirs >= requestedAt + aheadMs - DIFFER_MS && theirs <= answeredAt + aheadMs + DIFFER_MS
      if (!isRight) aheadMs = Math.round(theirs - (requestedAt + answeredAt) / 2)
    },
  }
}

/** While the machine's clock is behind, time passes at half its pace until the two agree. */
const PACE_BEHIND = 0.5

/** What was done later than that from now on was done on a clock that was wrong, and is not gone by. */
export const NOT_BEFORE_MAX_MS = 24 * 60 * 60_000

export interface SteadyTime {
  now(): number
  /** It is known to be this late already (ms), from before a restart. */
  notBefore(at: number): void
}

/**
 * The machine's time, but that it never goes back: what was to be done in a second would else be due in an hour. A clock
 * that is set forward is followed at once, one that is set back in twice the time that it was set back by.
 */
export function createSteadyTime(clocks: MachineClocks): SteadyTime {
  let ranTo = clocks.running()
  let reached = clocks.set()

  function now(): number {
    const passed = Math.max(0, clocks.running() - ranTo)
    ranTo += passed
    reached = Math.max(clocks.set(), reached + passed * PACE_BEHIND)
    return Math.floor(reached)
  }

  return {
    now,
    notBefore(at) {
      if (at <= now() + NOT_BEFORE_MAX_MS) reached = Math.max(reached, at)
    },
  }
}

/** Time as it has run on since this was made, whatever the clock is set to: for a clock that another one puts right. */
export function createRunningTime(clocks: MachineClocks): () => number {
  const [beganAt, ranFrom] = [clocks.set(), clocks.running()]
  return () => Math.floor(beganAt + clocks.running() - ranFrom)
}
