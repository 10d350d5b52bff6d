import type { MachineClocks } from './clock.ts'

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

/** Time as it has run on since this was made, whatever the clock is set to: for whoever is put right by another one. */
export function createRunningTime(clocks: MachineClocks): () => number {
  const [beganAt, ranFrom] = [clocks.set(), clocks.running()]
  return () => Math.floor(beganAt + clocks.running() - ranFrom)
}
