import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** Slack repeats an event for an hour, and is forgiven another one. */
export const EVENTS_KEPT_MS = 2 * 60 * 60_000

/**
 * Whether Slack tells this for the first time. Where no other process may have heard it, it is for the door to know; where
 * the store does not answer, it is heard: twice is better than never.
 */
export async function hearEvent(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  id: string,
): Promise<boolean> {
  if (!store.shared) return true
  const now = clock.now()
  try {
    return await store.write(
      async (tx) => {
        await tx.forgetEvents(now - EVENTS_KEPT_MS)
        return tx.hearEvent(id, now)
      },
      { canBeRedone: true },
    )
  } catch (error) {
    log.warn({ err: error }, 'an event could not be written down; should Slack repeat it, it may be heard twice')
    return true
  }
}
