import { randomUUID } from 'node:crypto'
import { existsSync, fdatasyncSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
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

// Nothing here must survive a power cut, so a folder in memory is used if there is one: it is faster.
export const FAST_FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

let made: Promise<Buffer> | null = null

/** An empty, migrated database as the bytes of its file. */
export const emptyDatabase = (): Promise<Buffer> => (made ??= makeDatabase())

/** Removes its folder, since the process may be killed later. */
async function makeDatabase(): Promise<Buffer> {
  const folder = mkdtempSync(join(FAST_FOLDER, 'buildline-template-'))
  const path = join(folder, 'builds.db')
  try {
    const store = openBesideHandClock(path)
    await store.migrate()
    // Without one use, the connection is not closed, and the tables stay in the write-ahead log beside the file.
    await store.read.closedChannels()
    await store.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The store of a `DATABASE_URL`. */
export function openStoreAt(url: string): Store {
  // Ignores errors of idle connections, which the server closes when it stops.
  if (url.startsWith('postgres:')) return openPostgres(url, () => undefined)
  return openSqlite(url.slice('sqlite:'.length))
}

export async function sqlitePlaces(): Promise<Places> {
  const folder = await mkdtemp(join(tmpdir(), 'buildline-sqlite-'))
  const openAt = (path: string) => toPlace('sqlite', `sqlite:${path}`, async (text) => allOnce(path, text))
  const newPath = () => join(folder, randomUUID(), 'builds.db')
  return {
    openEmpty: async () => openAt(newPath()),
    async open() {
      const path = newPath()
      mkdirSync(dirname(path))
      writeFileSync(path, await emptyDatabase())
      return openAt(path)
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

export async function postgresPlaces(server: PostgresServer): Promise<Places> {
  const template = await server.createDatabase()
  const first = openStoreAt(template)
  await first.migrate()
  await first.close()
  // Copying a database, and connecting to it, takes longer than most tests.
  const emptied: { url: string; store: Store; client: Client }[] = []
  const openCopy = async () => {
    const url = await server.createDatabase(template)
    const client = new Client({ connectionString: url })
    await client.connect()
    return { url, client, store: openStoreAt(url) }
  }
  return {
    async openEmpty() {
      const url = await server.createDatabase()
      return toPlace('postgres', url, async (text) => (await queryOnce(url, text)) as Record<string, unknown>[])
    },
    async open() {
      const { url, client, store } = emptied.pop() ?? (await openCopy())
      return toPlace('postgres', url, async (text) => (await client.query(text)).rows, {
        store,
        async end() {
          await client.query(EMPTY_ALL)
          emptied.push({ url, client, store: closed.has(store) ? openStoreAt(url) : store })
        },
      })
    },
    async [Symbol.asyncDispose]() {
      for (const { client, store } of emptied) await Promise.all([client.end(), store.close()])
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Empties all tables except those of migrations. To truncate one takes long, also if it is empty: most of them are. */
const EMPTY_ALL = `do $$ declare name text; is_filled boolean; begin
  for name in select quote_ident(tablename) from pg_tables where schemaname = 'public' and tablename not like 'kysely%' loop
    execute 'select exists (select from ' || name || ')' into is_filled;
    if is_filled then execute 'truncate ' || name; end if;
  end loop;
  perform setval(quote_ident(sequencename), start_value, false) from pg_sequences where last_value is not null;
end $$`

/** @param kept a store that stays open for the next test, and what the test's end does with it */
function toPlace(
  kind: Place['kind'],
  url: string,
  sql: Place['sql'],
  kept?: { store: Store; end: () => Promise<void> },
): Place {
  const opened: Store[] = []
  const another = () => {
    const store = openStoreAt(url)
    opened.push(store)
    return store
  }
  const close = async () => {
    await Promise.all(opened.map((store) => closeOnce(store)))
    await kept?.end()
  }
  return { kind, url, sql, another, store: kept?.store ?? another(), [Symbol.asyncDispose]: close }
}

const closed = new WeakSet<Store>()

/** Closes a store unless the test has closed it. */
export async function closeOnce(store: Store): Promise<void> {
  if (closed.has(store)) return
  closed.add(store)
  await store.close()
}

function allOnce(path: string, text: string): Record<string, unknown>[] {
  const db = new DatabaseSync(path)
  try {
    return db.prepare(text).all()
  } finally {
    db.close()
  }
}
