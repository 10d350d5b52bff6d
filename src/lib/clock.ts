/** The time (ms since the epoch, UTC). It is passed in, so that tests can set it. */
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

interface MachineClocks {
  /** the wall clock: ms since the epoch; people, programs and time servers can set it */
  set(): number
  /** the monotonic clock: ms since some moment; nobody can set it */
  running(): number
}

export const machineClocks: MachineClocks = { set: () => Date.now(), running: () => performance.now() }

export type SyncedClock = ReturnType<typeof createSyncedClock>

/** A difference of up to this much is not corrected. */
const DIFFER_MS = 20

/** A clock that follows another one: machines that share a database all follow the database's clock. */
export function createSyncedClock(own: Clock) {
  let aheadMs = 0
  return {
    now: () => own.now() + aheadMs,
    sleep: own.sleep,
    /** Reads the other clock (ms) and follows it from now on. */
    async sync(ask: () => Promise<number>): Promise<void> {
      const requestedAt = own.now()
      const theirs = await ask()
      const answeredAt = own.now()
      // The other clock was read at some time in between. If ours can be right already, it stays as it is.
      const isRight = theirs >= requestedAt + aheadMs - DIFFER_MS && theirs <= answeredAt + aheadMs + DIFFER_MS
      if (!isRight) aheadMs = Math.round(theirs - (requestedAt + answeredAt) / 2)
    },
  }
}

/** While the machine's clock is behind, steady time runs at this share of the real pace until the two agree. */
const PACE_BEHIND = 0.5

/** `notBefore` ignores a time that is further ahead than this: the clock was wrong when that time was stored. */
export const NOT_BEFORE_MAX_MS = 24 * 60 * 60_000

export type SteadyTime = ReturnType<typeof createSteadyTime>

/**
 * The machine's time, except that it never goes back: otherwise work due in a second would be due in an hour. If the
 * clock is set forward, this time follows at once. If it is set back by an hour, this time agrees after two hours.
 */
export function createSteadyTime(clocks: MachineClocks) {
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
    /** Time must not be before `at` (ms), which was stored before a restart. */
    notBefore(at: number): void {
      if (at <= now() + NOT_BEFORE_MAX_MS) reached = Math.max(reached, at)
    },
  }
}

/** Starts at the wall clock's time and runs by the monotonic clock. For a SyncedClock, which corrects it. */
export function createRunningTime(clocks: MachineClocks): () => number {
  const [beganAt, ranFrom] = [clocks.set(), clocks.running()]
  return () => Math.floor(beganAt + clocks.running() - ranFrom)
}
