import type { Clock } from './clock.ts'

/** The part of a logger that the rooms use; pino's shape. Fields first, then a sentence. */
export interface Log {
  debug(fields: object, text: string): void
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}

/** What goes on is said again after this long, then after twice as long each time, */
export const SAID_AGAIN_MS = 60_000
/** but at the latest after this long. */
export const SAID_AGAIN_MS_MAX = 60 * 60_000

/** Keeps what goes on for hours from being said a thousand times. */
export interface LogThrottle {
  /** Whether it is to be said now; who asks says it. */
  isDue(what: string): boolean
  /** It has ended: the next time counts as the first. */
  over(what: string): void
}

export function createLogThrottle(clock: Pick<Clock, 'now'>): LogThrottle {
  const said = new Map<string, { at: number; waitMs: number }>()
  return {
    isDue(what) {
      const last = said.get(what)
      if (last && clock.now() - last.at < last.waitMs) return false
      const waitMs = last ? Math.min(last.waitMs * 2, SAID_AGAIN_MS_MAX) : SAID_AGAIN_MS
      said.set(what, { at: clock.now(), waitMs })
      return true
    },
    over: (what) => void said.delete(what),
  }
}
