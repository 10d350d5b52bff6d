import type { Clock } from './clock.ts'

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
      const askedAt = own.now()
      const theirs = await ask()
      const answeredAt = own.now()
      // They looked at their clock some time in between: what can be right already stays as it is.
      const isRight = theirs >= askedAt + aheadMs - DIFFER_MS && theirs <= answeredAt + aheadMs + DIFFER_MS
      if (!isRight) aheadMs = Math.round(theirs - (askedAt + answeredAt) / 2)
    },
  }
}
