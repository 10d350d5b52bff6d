import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Client, Pool, types, type CustomTypesConfig } from 'pg'
import { errorCode } from '../lib/error-code.ts'
import { throughDriver, type Compiled } from './kysely/query.ts'
import { createReads, createTx } from './kysely/queries.ts'
import { migrate } from './migrate.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

const CONNECTIONS_MAX = 10

/** Writes wait for one another at a row, each with a connection: some are left to those that read. */
const WRITES_MAX = 8
const CONNECT_TIMEOUT_MS = 5_000
/** The limit of a statement of ours. Bringing the tables up to date has longer, and may wait for another process. */
const STATEMENT_TIMEOUT_MS = 10_000
const MIGRATION_TIMEOUT_MS = 30_000
/** A server that is silent for this much longer than a statement may take is gone: a network can drop packets without an error. */
const SILENT_MS = 2_000

/**
 * A transaction in which nothing happens for this long is rolled back: its process is paused or gone, and others wait
 * for its locks. Less than half a lease, because a second transaction of that process may get the locks of the first.
 */
const IDLE_TRANSACTION_MAX_MS = 2_000

/** A transaction that loses a race is tried at most this many times. */
const TRIES_MAX = 5

/**
 * The store in PostgreSQL. Its own group commit gathers the fsyncs of transactions that run side by side.
 * @param url `postgres://user:password@host/database`
 * @param onIdleError what a connection in the pool met while nobody used it; the next use gets a fresh one
 */
export function openPostgres(url: string, onIdleError: (error: Error) => void): Store {
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MAX_MS,
    stream: () => openSocket(STATEMENT_TIMEOUT_MS + SILENT_MS),
    types: { getTypeParser: parserOf },
  })
  pool.on('error', onIdleError)
  // A connection that breaks while it is in use tells us twice: its query fails, and it says so itself.
  pool.on('connect', (client) => void client.on('error', onIdleError))
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  const compiled: Compiled = new Map()
  const writing = new Set<Promise<unknown>>()
  const inTurn = createTurnstile(WRITES_MAX)
  const announce = oneAtATime(() => pool.query(`notify ${NEWS}`))
  return {
    shared: true,
    news: { announce, listen: (onNews) => listen(url, onNews) },
    async write(work, { canBeRedone = false } = {}) {
      const transaction = () =>
        db.transaction().execute(async (trx) => {
          if (canBeRedone) await sql`set local synchronous_commit = off`.execute(trx)
          return work(createTx(trx, { compiled, execute: throughDriver(trx), locks: true }))
        })
      const written = retryRaces(() => inTurn(transaction))
      writing.add(written)
      return written.finally(() => writing.delete(written))
    },
    read: createReads(db, { compiled, execute: throughDriver(db), locks: false }),
    migrate: () => migrateWith(url, onIdleError),
    async ping() {
      await pool.query('select 1')
    },
    async time() {
      const { rows } = await pool.query<{ now: string }>('select extract(epoch from clock_timestamp()) * 1000 as now')
      return Number(rows[0]!.now)
    },
    async close() {
      await Promise.allSettled(writing)
      await db.destroy()
      // Kysely ends the pool only if it has used it.
      if (!pool.ended) await pool.end()
    },
  }
}

/** PostgreSQL's channel on which a process that stored something tells the one that sends. */
const NEWS = 'buildline_news'
const LISTEN_AGAIN_MS = 1_000

/** Runs `work` now, or once more when the attempt under way has ended. Its failure is nobody's concern: news is a hint. */
function oneAtATime(work: () => Promise<unknown>): () => void {
  let running = false
  let again = false
  return function run() {
    again = running
    if (running) return
    running = true
    const ended = () => {
      running = false
      if (again) run()
    }
    work().then(ended, ended)
  }
}

/** A connection of its own, made again whenever it is lost. */
function listen(connectionString: string, onNews: () => void): () => Promise<void> {
  const stopping = new AbortController()
  const keepListening = async () => {
    while (!stopping.signal.aborted) {
      const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true })
      const lost = new Promise<void>((resolve) => {
        client.on('error', () => resolve())
        client.on('end', () => resolve())
        stopping.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      client.on('notification', onNews)
      try {
        await client.connect()
        await client.query(`listen ${NEWS}`)
        onNews()
        await lost
      } catch {
        // It is tried again below; the sweep finds the news meanwhile.
      }
      await client.end().catch(() => {})
      if (!stopping.signal.aborted) await setTimeout(LISTEN_AGAIN_MS, null, { signal: stopping.signal }).catch(() => {})
    }
  }
  const listening = keepListening()
  return () => {
    stopping.abort()
    return listening
  }
}

/** A connection that is silent for too long ends, with all that waits on it: kept, it would hold up its next user. */
function openSocket(silentMaxMs: number): Socket {
  const socket = new Socket()
  return socket.setTimeout(silentMaxMs, () => socket.destroy(new Error('the database server says nothing')))
}

async function migrateWith(connectionString: string, onIdleError: (error: Error) => void): Promise<void> {
  const pool = new Pool({
    connectionString,
    max: 2,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: MIGRATION_TIMEOUT_MS,
    stream: () => openSocket(MIGRATION_TIMEOUT_MS + SILENT_MS),
    types: { getTypeParser: parserOf },
  })
  pool.on('error', onIdleError)
  pool.on('connect', (client) => void client.on('error', onIdleError))
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    await migrate(db, { name: 'postgres' })
  } finally {
    await db.destroy()
  }
}

// bigint arrives as text; ours are ms and counters, far below 2^53.
export const parserOf: CustomTypesConfig['getTypeParser'] = (oid, format) =>
  oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)

// serialization_failure, deadlock_detected, unique_violation: two writers met; the second one reads again what is there.
const RACES = new Set(['40001', '40P01', '23505'])

async function retryRaces<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (tries >= TRIES_MAX || !RACES.has(errorCode(error) ?? '')) throw error
    }
  }
}

/** Lets `insideMax` callers be inside at once; the others wait, in order, for as long as it takes. */
export function createTurnstile(insideMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let inside = 0

  return async (work) => {
    if (inside < insideMax) inside++
    // A caller that leaves hands over its place.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else inside--
    }
  }
}
