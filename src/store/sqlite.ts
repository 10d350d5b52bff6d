import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Kysely, SqliteDialect, type SqliteDatabase } from 'kysely'
import { createDoorQueries } from './kysely/door.ts'
import { createReads } from './kysely/reads.ts'
import { createTx } from './kysely/writes.ts'
import { gather } from './gather.ts'
import { migrate } from './migrate.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/** Another process that holds the file (a backup, a shell) is waited for so long. */
const BUSY_TIMEOUT_MS = 5_000

/**
 * The store in one SQLite file: WAL, and `synchronous=FULL`, so that a commit is on disk when it returns. Reads go
 * through a connection of their own and see only what is committed.
 * @param path file path; its folder is made
 */
export function openSqlite(path: string): Store {
  mkdirSync(dirname(path), { recursive: true })
  const writer = connect(path)
  const reader = connect(path)
  const [writing, reading] = [toKysely(writer), toKysely(reader)]
  const door = createDoorQueries(writing)
  const write = gather(writer, createTx(writing, door))
  return {
    shared: false,
    write: write.run,
    read: createReads(reading, door),
    migrate: () => migrate(writing, { name: 'sqlite' }),
    async ping() {
      reader.prepare('select 1').get()
    },
    async close() {
      await write.idle()
      await Promise.all([writing.destroy(), reading.destroy()])
    },
  }
}

function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;')
  return db
}

const toKysely = (db: DatabaseSync): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: new SqliteDialect({ database: adapt(db) }) })

// Kysely speaks better-sqlite3's dialect: parameters as one array, and `reader` for statements that return rows.
function adapt(db: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, ReturnType<typeof wrap>>()
  return {
    close: () => db.close(),
    prepare(sql) {
      const known = statements.get(sql)
      if (known) return known
      const statement = wrap(db.prepare(sql))
      if (statements.size < STATEMENTS_MAX) statements.set(sql, statement)
      return statement
    },
  }
}

/** Prepared statements that are kept; lists of varying length make new ones. */
const STATEMENTS_MAX = 500

const wrap = (statement: StatementSync) => ({
  reader: statement.columns().length > 0,
  all: (parameters: readonly unknown[]) => statement.all(...(parameters as SQLInputValue[])),
  run: (parameters: readonly unknown[]) => statement.run(...(parameters as SQLInputValue[])),
  iterate: (parameters: readonly unknown[]) =>
    statement.iterate(...(parameters as SQLInputValue[])) as IterableIterator<unknown>,
})
