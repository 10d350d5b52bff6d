import { openSqlite } from './sqlite.ts'
import type { Store } from './store.ts'

/** Which database, and where. */
export type DatabaseAddress = { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string }

/** Opens a database. @param lost called when a connection to a server was lost */
export async function openStore(database: DatabaseAddress, lost: (error: unknown) => void = () => {}): Promise<Store> {
  if (database.kind === 'sqlite') return openSqlite(database.path)
  // Loaded only if it is needed: its client is large.
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(database.url, lost)
}
