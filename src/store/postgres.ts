import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool, types, type CustomTypesConfig } from 'pg'
import { errorCode } from '../lib/error-code.ts'
import { throughDriver, type Compiled } from './kysely/ask.ts'
import { createReads } from './kysely/reads.ts'
import { createTx } from './kysely/writes.ts'
import { migrate } from './migrate.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

const CONNECTIONS_MAX = 10
const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 30_000

/** A transaction that lost a race is tried so often. */
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
    types: { getTypeParser: parserOf },
  })
  pool.on('error', onIdleError)
  // A connection that breaks while it is in use tells us twice: its query fails, and it says so itself.
  pool.on('connect', (client) => void client.on('error', onIdleError))
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  const compiled: Compiled = new Map()
  const writing = new Set<Promise<unknown>>()
  return {
    shared: true,
    async write(work, { canBeRedone = false } = {}) {
      const written = retryRaces(() =>
        db.transaction().execute(async (trx) => {
          if (canBeRedone) await sql`set local synchronous_commit = off`.execute(trx)
          return work(createTx(trx, { compiled, execute: throughDriver(trx), locks: true }))
        }),
      )
      writing.add(written)
      return written.finally(() => writing.delete(written))
    },
    read: createReads(db, { compiled, execute: throughDriver(db), locks: false }),
    migrate: () => migrate(db, { name: 'postgres' }),
    async ping() {
      await pool.query('select 1')
    },
    async close() {
      await Promise.allSettled(writing)
      await db.destroy()
      // Kysely ends the pool only if it has used it.
      if (!pool.ended) await pool.end()
    },
  }
}

// bigint arrives as text; ours are ms and counters, far below 2^53.
const parserOf: CustomTypesConfig['getTypeParser'] = (oid, format) =>
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
