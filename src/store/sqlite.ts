import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Kysely, SqliteDialect, type CompiledQuery, type SqliteDatabase } from 'kysely'
import type { Compiled, Execute } from './kysely/query.ts'
import { createReads, createTx } from './kysely/queries.ts'
import { migrate } from './migrate.ts'
import { createPlace, type ToDisk, createLogOnDisk, isBusy, type LogOnDisk } from './disk.ts'
import type { Schema } from './schema.ts'
import type { News, OnNews, Store, Tx } from './store.ts'
import { setTimeout } from 'node:timers/promises'

/**
 * The store in one SQLite file, in WAL mode: `write` resolves when what it wrote is on disk, except with `canBeRedone`.
 * Reads go through a connection of their own and see only what is committed.
 * @param path file path; its folder is created
 * @param toDisk puts the log on the disk; default `fdatasync`, on a thread of the pool
 * @param batchMaxMs how long writes that share a transaction may take together
 */
export function openSqlite(path: string, { toDisk, batchMaxMs }: { toDisk?: ToDisk; batchMaxMs?: number } = {}): Store {
  makeFolder(dirname(path))
  const writer = connect(path)
  const reader = connect(path)
  const [writing, reading] = [toKysely(writer), toKysely(reader)]
  const compiled: Compiled = new Map()
  const place = createPlace([path, `${path}-wal`])
  const listeners = new Set<OnNews>()
  const due = new Set<News>()
  const tx = createTx(writing, { compiled, execute: directly(writer), locks: false, onNews: (news) => due.add(news) })
  const log = createLogOnDisk(writer, `${path}-wal`, toDisk)
  const begun = () => due.clear()
  const written = () => listeners.forEach((onNews) => due.forEach(onNews))
  const write = gather(writer, tx, { log, checkPlace: place.check, begun, written, batchMaxMs })
  return {
    shared: false,
    listen(onNews) {
      listeners.add(onNews)
      return async () => void listeners.delete(onNews)
    },
    write: write.run,
    read: createReads(reading, { compiled, execute: directly(reader), locks: false }),
    migrate: () => exclusively(writer, () => migrate(writing, { name: 'sqlite' })),
    async ping() {
      place.check()
      reader.prepare('select 1').get()
    },
    // The machine's own clock: processes that share a file share the machine.
    time: async () => Number(reader.prepare("select unixepoch('subsec') * 1000 as now").get()!['now']),
    async close() {
      await write.end()
      log.close()
      await Promise.all([writing.destroy(), reading.destroy()])
      // Kysely closes a connection only if it has used it.
      for (const db of [writer, reader]) if (db.isOpen) db.close()
      place.close()
    },
  }
}

/**
 * Not `mkdirSync` with `recursive`, which never returns if the system denies that an existing parent exists, as in
 * /proc.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error
  }
}

function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  whenFree(() => db.exec('pragma journal_mode = wal'))
  db.exec(
    `pragma synchronous = normal; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}; pragma cache_size = -${CACHE_KB}`,
  )
  return db
}

/**
 * The log is merged into the file every 64 MB, not every 4 as by SQLite's default: each merge costs two syncs, and a
 * page that was written many times is merged once. This gives 10 to 25 % more deliveries a second than 8 MB.
 */
const CHECKPOINT_PAGES = 16_000
const CACHE_KB = 2_000

/** Retries while another process holds the lock, because SQLite does not wait when it changes the journal mode. */
function whenFree(work: () => void): void {
  for (let tries = 1; ; tries++) {
    try {
      return work()
    } catch (error) {
      if (tries === BUSY_TRIES_MAX || !isBusy(error)) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_AGAIN_MS)
    }
  }
}

/** At most five seconds. This blocks the thread, but only at the start, before the port opens. */
const BUSY_AGAIN_MS = 20
const BUSY_TRIES_MAX = 250

/** Runs `work` in one process at a time, in one transaction: the second process finds the work done. */
const exclusively = (db: DatabaseSync, work: () => Promise<void>): Promise<void> =>
  inTransaction(db, () => whenFree(() => db.exec('begin immediate')), work)

export async function inTransaction(db: DatabaseSync, begin: () => void, work: () => Promise<void>): Promise<void> {
  begin()
  try {
    await work()
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

const toKysely = (db: DatabaseSync): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: new SqliteDialect({ database: adapt(db) }) })

/** Runs prepared statements without Kysely's driver, which costs each delivery and message more than SQLite does. */
function directly(db: DatabaseSync): Execute {
  const statements = new Map<CompiledQuery, ReturnType<typeof wrap>>()
  return function execute(query, parameters) {
    const statement = statements.get(query) ?? wrap(db.prepare(query.sql))
    statements.set(query, statement)
    if (statement.reader) return statement.all(parameters)
    statement.run(parameters)
    return []
  }
}

// Kysely expects better-sqlite3's interface: parameters as one array, and `reader` for statements that return rows.
function adapt(db: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, ReturnType<typeof wrap>>()
  return {
    // A query after the end makes Kysely close it again.
    close: () => void (db.isOpen && db.close()),
    prepare(sql) {
      const known = statements.get(sql)
      if (known) return known
      const statement = wrap(db.prepare(sql))
      if (statements.size < STATEMENTS_MAX) statements.set(sql, statement)
      return statement
    },
  }
}

/** At most this many prepared statements are kept; lists of varying length make new ones. */
const STATEMENTS_MAX = 500

const wrap = (statement: StatementSync) => ({
  reader: statement.columns().length > 0,
  all: (parameters: readonly unknown[]) => statement.all(...(parameters as SQLInputValue[])),
  run: (parameters: readonly unknown[]) => statement.run(...(parameters as SQLInputValue[])),
  iterate: (parameters: readonly unknown[]) =>
    statement.iterate(...(parameters as SQLInputValue[])) as IterableIterator<unknown>,
})

/** Writes that share one transaction: enough to make the fsync cheap, few enough to keep the event loop moving. */
const BATCH_MAX = 128

/** If a batch takes longer, because of slow writes, the rest waits for the next turn of the event loop. */
const BATCH_MAX_MS = 10

/** Retry interval while another process (a backup, a shell) holds the lock; for two seconds. */
const LOCK_AGAIN_MS = 50
const LOCK_TRIES_MAX = 40

interface Waiting {
  work: (tx: Tx) => Promise<unknown>
  canBeRedone: boolean
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

/** Whether one of the writes could not be redone, and so has to be on disk before its caller is answered. */
const mustSync = (batch: readonly Waiting[]): boolean => batch.some(({ canBeRedone }) => !canBeRedone)

/**
 * Group commit: writes that arrive while others are being written share one transaction and one sync. If one of them
 * throws, the batch is rolled back and each write is run again alone, so that only the faulty one fails.
 * @param checkPlace throws if the database file was removed, replaced or overwritten, so that writes would be lost
 */
export function gather(
  db: DatabaseSync,
  tx: Tx,
  {
    log,
    checkPlace,
    begun,
    written,
    batchMaxMs = BATCH_MAX_MS,
  }: {
    log: LogOnDisk
    checkPlace: () => void
    /** called when a transaction begins, and after what it wrote is on disk */
    begun: () => void
    written: () => void
    batchMaxMs?: number | undefined
  },
) {
  const queue: Waiting[] = []
  let draining: Promise<void> | null = null
  let isEnded = false

  async function drain(): Promise<void> {
    // Wait for one turn of the event loop, so that more writes can join the first batch.
    await new Promise(setImmediate)
    while (queue.length > 0) {
      const batch = queue.splice(0, BATCH_MAX)
      const refused = await begin(batch)
      if (refused) batch.forEach(({ reject }) => reject(refused.error))
      else if (!(await commit(batch))) await commitEach(batch)
      await new Promise(setImmediate)
    }
    draining = null
  }

  async function commitEach(batch: readonly Waiting[]): Promise<void> {
    for (const one of batch) {
      const refused = await begin([one])
      if (refused) one.reject(refused.error)
      else await commit([one])
    }
  }

  /** Waits while another process holds the lock. @returns why the batch could not begin; null: it has begun */
  async function begin(batch: readonly Waiting[]): Promise<{ error: unknown } | null> {
    for (let tries = 1; ; tries++) {
      try {
        if (mustSync(batch)) checkPlace()
        log.mend()
        db.exec('begin immediate')
        begun()
        return null
      } catch (error) {
        if (tries === LOCK_TRIES_MAX || !isBusy(error)) return { error }
        await setTimeout(LOCK_AGAIN_MS)
      }
    }
  }

  /** Runs a batch and commits it. False: one of several writes threw, and nothing of the batch is written. */
  async function commit(batch: Waiting[]): Promise<boolean> {
    const values: unknown[] = []
    const endsAt = performance.now() + batchMaxMs
    try {
      for (const { work } of batch) {
        values.push(await work(tx))
        if (performance.now() > endsAt) queue.unshift(...batch.splice(values.length))
      }
      db.exec('commit')
    } catch (error) {
      if (db.isOpen && db.isTransaction) db.exec('rollback')
      if (batch.length === 1) batch[0]!.reject(error)
      return batch.length === 1
    }
    await answer(batch, values)
    return true
  }

  /** Answers the callers; first syncs to disk, unless all their writes can be redone from what is stored. */
  async function answer(batch: readonly Waiting[], values: readonly unknown[]): Promise<void> {
    try {
      if (mustSync(batch)) await log.sync()
      batch.forEach(({ resolve }, i) => resolve(values[i] as never))
      written()
    } catch (error) {
      batch.forEach(({ reject }) => reject(error))
    }
  }

  return {
    run: <T>(work: (tx: Tx) => Promise<T>, { canBeRedone = false } = {}): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        if (isEnded) return reject(new Error('the store is closed'))
        queue.push({ work, canBeRedone, resolve, reject })
        draining ??= drain()
      }),
    /** Accepts no more writes; resolves when the accepted ones have ended. */
    end: async (): Promise<void> => {
      isEnded = true
      await draining
    },
  }
}
