import type { Clock } from './clock.ts'

/** The part of pino's logger that the bot uses: fields first, then a sentence. */
export interface Log {
  debug(fields: object, text: string): void
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}

/** A problem that goes on is logged again after this time, then after twice as long each time, up to LOGGED_AGAIN_MS_MAX. */
export const LOGGED_AGAIN_MS = 60_000
/** The longest time between two such lines. */
export const LOGGED_AGAIN_MS_MAX = 60 * 60_000

export type LogThrottle = ReturnType<typeof createLogThrottle>

/** Keeps a problem that goes on for hours from being logged a thousand times. */
export function createLogThrottle(clock: Pick<Clock, 'now'>) {
  const logged = new Map<string, { at: number; waitMs: number }>()
  return {
    /** Whether to log it now. If so, the caller must log it: the next time counts from here. */
    isDue(what: string): boolean {
      const last = logged.get(what)
      if (last && clock.now() - last.at < last.waitMs) return false
      const waitMs = last ? Math.min(last.waitMs * 2, LOGGED_AGAIN_MS_MAX) : LOGGED_AGAIN_MS
      logged.set(what, { at: clock.now(), waitMs })
      return true
    },
    /** The problem has ended: if it comes again, it is logged at once. */
    over: (what: string) => void logged.delete(what),
  }
}
