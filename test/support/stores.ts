import { randomUUID } from 'node:crypto'
import { fdatasyncSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { queryOnce, type PostgresServer } from './postgres.ts'

/** A test's database. When the test ends, its stores are closed and it is removed. */
export interface Place extends AsyncDisposable {
  kind: 'sqlite' | 'postgres'
  /** its `DATABASE_URL` */
  url: string
  /** the store under test, migrated */
  store: Store
  /** Another store on the same database, as in another process. */
  another(): Store
  /** Runs one SQL statement on its own connection. */
  sql(text: string): Promise<Record<string, unknown>[]>
}

/** Where a suite gets its databases. */
export interface Places extends AsyncDisposable {
  /** A new database, migrated. */
  open(): Promise<Place>
  /** A new database without tables. */
  openEmpty(): Promise<Place>
}

/**
 * A file whose writes block the thread until they are on disk. With a hand-turned clock, nothing may take real time in
 * the background.
 */
export const openBesideHandClock = (path: string): Store =>
  openSqlite(path, {
    toDisk(file, done) {
      fdatasyncSync(file)
      done(null)
    },
    batchMaxMs: Infinity,
  })

/** The store of a `DATABASE_URL`. */
export function openStoreAt(url: string): Store {
  // Ignores errors of idle connections, which the server closes when it stops.
  if (url.startsWith('postgres:')) return openPostgres(url, () => undefined)
  return openSqlite(url.slice('sqlite:'.length))
}

export async function sqlitePlaces(): Promise<Places> {
  const folder = await mkdtemp(join(tmpdir(), 'buildline-sqlite-'))
  const openEmpty = async () => {
    const path = join(folder, randomUUID(), 'builds.db')
    return toPlace('sqlite', `sqlite:${path}`, async (text) => allOnce(path, text))
  }
  return {
    openEmpty,
    open: () => migrated(openEmpty()),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

export async function postgresPlaces(server: PostgresServer): Promise<Places> {
  const template = await server.createDatabase()
  const first = openStoreAt(template)
  await first.migrate()
  await first.close()
  // Copying a database takes ten times as long as emptying one.
  const emptied: string[] = []
  const openAt = (url: string, after?: () => Promise<void>) =>
    toPlace('postgres', url, async (text) => (await queryOnce(url, text)) as Record<string, unknown>[], after)
  return {
    openEmpty: async () => openAt(await server.createDatabase()),
    async open() {
      const url = emptied.pop() ?? (await server.createDatabase(template))
      return openAt(url, async () => {
        await queryOnce(url, EMPTY_ALL)
        emptied.push(url)
      })
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Empties all tables except those of migrations. */
const EMPTY_ALL = `do $$ begin execute (
  select 'truncate ' || string_agg(quote_ident(tablename), ', ') || ' restart identity'
  from pg_tables where schemaname = 'public' and tablename not like 'kysely%'); end $$`

function toPlace(kind: Place['kind'], url: string, sql: Place['sql'], after = async () => {}): Place {
  const opened: Store[] = []
  const another = () => {
    const store = openStoreAt(url)
    opened.push(store)
    return store
  }
  const close = async () => {
    await Promise.all(opened.map((store) => closeOnce(store)))
    await after()
  }
  return { kind, url, sql, another, store: another(), [Symbol.asyncDispose]: close }
}

const closed = new WeakSet<Store>()

/** Closes a store unless the test has closed it. */
export async function closeOnce(store: Store): Promise<void> {
  if (closed.has(store)) return
  closed.add(store)
  await store.close()
}

async function migrated(place: Promise<Place>): Promise<Place> {
  const { store } = await place
  await store.migrate()
  return place
}

function allOnce(path: string, text: string): Record<string, unknown>[] {
  const db = new DatabaseSync(path)
  try {
    return db.prepare(text).all()
  } finally {
    db.close()
  }
}
