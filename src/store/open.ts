import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { openSqlite } from './sqlite.ts'
import type { Store, Reads } from './store.ts'
import { NotAttempted } from './not-attempted.ts'

export type DatabaseAddress = { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string }

/** Opens a database. @param lost called when a connection to a server was lost */
export async function openStore(database: DatabaseAddress, lost: (error: unknown) => void = () => {}): Promise<Store> {
  if (database.kind === 'sqlite') return openSqlite(database.path)
  // Loaded only if it is needed: its client is large.
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(database.url, lost)
}

interface StoreMeasures {
  timeStore: (operation: 'read' | 'write', ms: number) => void
  countStoreFailure: (operation: 'read' | 'write') => void
}

/** The same store, measured. A NotAttempted counts as time, not as a failure. */
export function measuredStore(store: Store, { timeStore, countStoreFailure }: StoreMeasures): Store {
  // Not async, for speed: it would cost as much as some of the reads and writes.
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
    (...args) =>
      measured('read', () => read(...args))

  return {
    ...store,
    read: mapValues(store.read, measuredRead),
    write: (work, options) => measured('write', () => store.write(work, options)),
  }
}

type Read = (...args: never[]) => Promise<unknown>

// The types of `Object.entries` cannot say that each value keeps its own type.
function mapValues(reads: Reads, map: (read: Read) => Read): Reads {
  const entries = Object.entries<Read>({ ...reads }).map(([name, read]) => [name, map(read)] as const)
  return Object.assign({ ...reads }, Object.fromEntries(entries))
}

/** The free space on the database's disk; null: the database is on another machine. */
export const freeBytesOf = (database: DatabaseAddress): (() => Promise<number>) | null =>
  database.kind === 'sqlite'
    ? async () => {
        const { bavail, bsize } = await statfs(dirname(database.path))
        return bavail * bsize
      }
    : null
