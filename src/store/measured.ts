import { NotAttempted } from './not-attempted.ts'
import type { Reads, Store } from './store.ts'

export interface StoreMeasures {
  timeStore: (operation: 'read' | 'write', ms: number) => void
  countStoreFailure: (operation: 'read' | 'write') => void
}

/** The same store; what it takes is told. A transaction that its own work gave up has not failed, but taken its time. */
export function measuredStore(store: Store, { timeStore, countStoreFailure }: StoreMeasures): Store {
  // By hand, since this is done for everything that is stored: an async function would cost as much as some of it.
  function measured<T>(operation: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    const beganAt = performance.now()
    const ended = () => timeStore(operation, performance.now() - beganAt)
    return work().then(
      (value) => {
        ended()
        return value
      },
      (error: unknown) => {
        if (!(error instanceof NotAttempted)) countStoreFailure(operation)
        ended()
        throw error
      },
    )
  }

  const measuredRead =
    (read: Read): Read =>
    (...asked) =>
      measured('read', () => read(...asked))

  return {
    ...store,
    read: mapValues(store.read, measuredRead),
    write: (work, options) => measured('write', () => store.write(work, options)),
  }
}

type Read = (...asked: never[]) => Promise<unknown>

// Each value keeps its own type, which no type of a list of entries can say.
function mapValues(reads: Reads, map: (read: Read) => Read): Reads {
  const entries = Object.entries<Read>({ ...reads }).map(([name, read]) => [name, map(read)] as const)
  return Object.assign({ ...reads }, Object.fromEntries(entries))
}
