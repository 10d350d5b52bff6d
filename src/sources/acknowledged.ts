import type { Clock } from '../lib/clock.ts'
import type { Store } from '../store/store.ts'

/** Acknowledgements are collected for this long, so that a burst of deliveries costs one write. */
const COLLECT_MS = 25

export interface Acknowledged {
  /** Call it when the delivery of this build event was answered. */
  add(eventSeq: number): void
  /** Resolves when everything noted is stored. */
  end(): Promise<void>
}

/**
 * Stores which deliveries were answered. If the process dies first, a delivery stays unacknowledged. That is the safe
 * side: its sender may not have got the answer, and may repeat it.
 */
export function createAcknowledged({ store, clock }: { store: Pick<Store, 'write'>; clock: Clock }): Acknowledged {
  const stopping = new AbortController()
  let pending: number[] = []
  let storing: Promise<void> | null = null

  async function storeAll(): Promise<void> {
    while (pending.length > 0) {
      await clock.sleep(COLLECT_MS, stopping.signal)
      const batch = pending
      pending = []
      // If the database is away, these deliveries stay unacknowledged.
      await store.write((tx) => tx.acknowledge(batch), { canBeRedone: true }).catch(() => {})
    }
    storing = null
  }

  return {
    add(eventSeq) {
      pending.push(eventSeq)
      storing ??= storeAll()
    },
    async end() {
      stopping.abort()
      await storing
    },
  }
}
