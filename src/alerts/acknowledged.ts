import type { Clock } from '../lib/clock.ts'
import type { Store } from '../store/store.ts'

/** Answered deliveries are noted together: one write for a burst of them. */
const NOTE_AFTER_MS = 25

export interface Acknowledged {
  /** The answer to the delivery of this build event was sent. */
  note(eventSeq: number): void
  /** Resolves when what was noted is stored. */
  end(): Promise<void>
}

/**
 * Stores which deliveries were answered. A process that dies before that leaves a delivery marked as not acknowledged,
 * which is the safe side: its sender may not have got the answer.
 */
export function createAcknowledged({ store, clock }: { store: Pick<Store, 'write'>; clock: Clock }): Acknowledged {
  const stopping = new AbortController()
  let noted: number[] = []
  let storing: Promise<void> | null = null

  async function storeAll(): Promise<void> {
    while (noted.length > 0) {
      await clock.sleep(NOTE_AFTER_MS, stopping.signal)
      const batch = noted
      noted = []
      // A database that is away keeps the marks as they are.
      await store.write((tx) => tx.acknowledge(batch), { canBeRedone: true }).catch(() => {})
    }
    storing = null
  }

  return {
    note(eventSeq) {
      noted.push(eventSeq)
      storing ??= storeAll()
    },
    async end() {
      stopping.abort()
      await storing
    },
  }
}
