import type { Clock } from '../lib/clock.ts'
import type { Store } from './store.ts'

/** However often it is asked, so often something is written, unless that failed. */
const TRIED_EVERY_MS = 5_000

/** The row that is written: when it was. */
const ROW = 'readyz'

/** Resolves when the database answers and takes what is written: one that is full or held by another answers as well. */
export function createStoreTrial({ store, clock }: { store: Pick<Store, 'ping' | 'write'>; clock: Clock }) {
  let tried: { at: number; end: Promise<void> } | null = null

  function write(): Promise<void> {
    const at = clock.now()
    const end = store.write((tx) => tx.setLastDoneAt(ROW, at), { canBeRedone: true })
    tried = { at, end }
    end.catch(() => (tried = null))
    return end
  }

  return async (): Promise<void> => {
    await store.ping()
    await (tried && clock.now() - tried.at < TRIED_EVERY_MS ? tried.end : write())
  }
}
