import type { Clock } from './clock.ts'

/** Of one request so many bytes are taken as they come: a delivery has fewer, and nearly all that Slack sends. */
export const AT_ONCE_BYTES = 16 * 1024

/** What is sent beyond that is read no faster than this, all of it together. */
export const LARGE_BYTES_PER_S = 4 * 1024 * 1024

interface Source {
  pause(): unknown
  resume(): unknown
}

/** A measure of what all large bodies together may have us read. */
export interface Trickle {
  /** For one request: to be told of each piece; the source then rests until its turn has come. */
  open(source: Source): (bytes: number) => void
}

/**
 * To read costs the thread, and memory until it is collected, whatever becomes of what was read: whoever sends without end
 * would have more of both than those who are waited for. Each in turn, so that nobody's large body holds up a small one for long.
 * @param running ms since some moment, which nobody sets
 */
export function createTrickle({ clock, running }: { clock: Pick<Clock, 'sleep'>; running: () => number }): Trickle {
  let freeAt = 0
  return {
    open(source) {
      let taken = 0
      return (bytes) => {
        taken += bytes
        if (taken <= AT_ONCE_BYTES) return
        freeAt = Math.max(freeAt, running()) + (bytes * 1_000) / LARGE_BYTES_PER_S
        const waitMs = freeAt - running()
        source.pause()
        void clock.sleep(waitMs).then(() => source.resume())
      }
    },
  }
}
