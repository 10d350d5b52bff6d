import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely'
import { Client, Pool, types, type CustomTypesConfig, type PoolClient, type PoolConfig } from 'pg'
import { errorCode } from '../lib/error-code.ts'
import type { Compiled, Execute } from './kysely/query.ts'
import { createReads, createTx } from './kysely/queries.ts'
import { migrate } from './migrate.ts'
import type { Schema } from './schema.ts'
import type { News, OnNews, Store, Tx } from './store.ts'

const CONNECTIONS_MAX = 10

/** Writes hold a connection while they wait for row locks, and ingesting also waits for reads: these need the others. */
const WRITES_MAX = 8

/** Longer than the minute after which some jobs come again: to connect costs more than their queries. */
const IDLE_CONNECTION_MAX_MS = 90_000
const CONNECT_TIMEOUT_MS = 5_000
/** The limit of a statement. A migration has longer, because it may wait for another process. */
const STATEMENT_TIMEOUT_MS = 10_000
const MIGRATION_TIMEOUT_MS = 30_000
/**
 * A server that is silent for this long after a statement's limit counts as gone: networks can drop packets silently.
 */
const SILENT_MS = 2_000

/**
 * A transaction in which nothing happens for this long is rolled back: its process is paused or gone, and others wait
 * for its locks. Less than half a lease, because a second transaction of that process may get the locks of the first.
 */
const IDLE_TRANSACTION_MAX_MS = 2_000

/** The most tries of a transaction that loses a race or meets outdated connections. */
const TRIES_MAX = CONNECTIONS_MAX + 5

/**
 * The store in PostgreSQL, whose own group commit shares fsyncs between concurrent transactions.
 * @param url `postgres://user:password@host/database`
 * @param onIdleError called with the error of an idle connection in the pool; the next use gets a new connection
 */
export function openPostgres(url: string, onIdleError: (error: Error) => void): Store {
  const pool = openPool(
    {
      connectionString: url,
      max: CONNECTIONS_MAX,
      idleTimeoutMillis: IDLE_CONNECTION_MAX_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MAX_MS,
      // Send concurrent queries of a transaction at once.
      pipeline: true,
    },
    { statementMaxMs: STATEMENT_TIMEOUT_MS, onIdleError },
  )
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  const compiled: Compiled = new Map()
  const prepared = createPrepared()
  const transactions = new WeakMap<PoolClient, { tx: Tx; onNews: OnNews }>()
  const txOn = (client: PoolClient, onNews: OnNews): Tx => {
    const known = transactions.get(client)
    if (known) {
      known.onNews = onNews
      return known.tx
    }
    const ownDb = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: poolOf(client) }) })
    const tx = createTx(ownDb, {
      compiled,
      execute: prepared(client),
      locks: true,
      onNews: (news) => opened.onNews(news),
    })
    const opened = { tx, onNews }
    transactions.set(client, opened)
    return tx
  }
  const writing = new Set<Promise<unknown>>()
  const limitWrites = createTurnstile(WRITES_MAX)
  const notifyOthers = oneAtATime(() => pool.query(`notify ${NEWS}`))
  const listeners = new Set<OnNews>()
  const spread = (due: ReadonlySet<News>): void => {
    // Only the process that sends listens.
    if (listeners.size > 0) listeners.forEach((onNews) => due.forEach(onNews))
    else if (due.size > 0) notifyOthers()
  }
  return {
    shared: true,
    listen(onNews) {
      listeners.add(onNews)
      const stop = listen(url, () => onNews('anything'))
      return () => {
        listeners.delete(onNews)
        return stop()
      }
    },
    async write(work, { canBeRedone = false } = {}) {
      const begin = canBeRedone ? 'begin; set local synchronous_commit = off' : 'begin'
      const transaction = async () => {
        const due = new Set<News>()
        const result = await transact(pool, begin, (client) => work(txOn(client, (news) => due.add(news))))
        spread(due)
        return result
      }
      const written = retry(() => limitWrites(transaction), isWorthAnother)
      writing.add(written)
      return written.finally(() => writing.delete(written))
    },
    read: createReads(db, { compiled, execute: prepared(pool), locks: false }),
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

async function transact<T>(pool: Pool, begin: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const failures: unknown[] = []
  failuresOf.set(client, failures)
  let rolledBack: Error | null = null
  let isUsable = true
  try {
    // Not awaited, so that it is sent with the first statements. If it fails, the connection is lost and they fail too.
    client.query(begin).catch(() => {})
    const result = await work(client)
    // If a statement failed and `work` did not throw, PostgreSQL answers `commit` with a rollback.
    const { command } = await client.query('commit')
    if (command === 'COMMIT' && failures.length === 0) return result
    throw (rolledBack = new Error('the transaction was rolled back'))
  } catch (error) {
    // Awaited before `failures` is read: the last failures may have come in one piece with the answer to `commit`.
    await client.query('rollback').catch(() => (isUsable = false))
    const cause = error === rolledBack || failures.includes(error) ? (failures[0] ?? error) : error
    isUsable &&= !isOutdated(cause)
    throw cause
  } finally {
    failuresOf.delete(client)
    client.release(!isUsable)
  }
}

/**
 * The failures of each open transaction, in order. Only the first says why: PostgreSQL refuses all statements after it.
 */
const failuresOf = new WeakMap<PoolClient, unknown[]>()

async function recordFailure<T>(client: PoolClient, answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    failuresOf.get(client)?.push(error)
    throw error
  }
}

const returnsNothing = ({ query }: CompiledQuery): boolean =>
  (query.kind === 'InsertQueryNode' || query.kind === 'UpdateQueryNode' || query.kind === 'DeleteQueryNode') &&
  !query.returning

/** One connection in the form of the pool that Kysely wants. */
const poolOf = (client: PoolClient) => {
  const query = (text: string, values: unknown[]) => recordFailure(client, client.query(text, values))
  const lent = { query, release() {} } as unknown as PoolClient
  return { connect: async () => lent, end: async () => {}, options: {} }
}

/** Names each compiled query, so that the server prepares it once per connection. */
function createPrepared(): (on: Pool | PoolClient) => Execute {
  const names = new Map<CompiledQuery, string>()
  const nameOf = (query: CompiledQuery): string => {
    if (!names.has(query)) names.set(query, `q${names.size}`)
    return names.get(query)!
  }
  const ask = async (on: Pool | PoolClient, query: CompiledQuery, values: readonly unknown[]) =>
    (await on.query({ name: nameOf(query), text: query.sql, values: values as unknown[] })).rows
  return (on) =>
    function execute(query, values) {
      if (on instanceof Pool) return retry(() => ask(on, query, values), isOutdated)
      const answer = recordFailure(on, ask(on, query, values))
      if (!returnsNothing(query)) return answer
      // `commit` waits for it. If it has failed, so does the transaction.
      answer.catch(() => {})
      return []
    }
}

/** The NOTIFY channel on which a process that stored something wakes the one that sends. */
const NEWS = 'buildline_news'
const LISTEN_AGAIN_MS = 1_000

/** Runs `work` now, or once more after the run in flight. Ignores failures, because news is only a hint. */
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

/** Listens on its own connection, and reconnects whenever it is lost. @returns a function that ends it */
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
        // Retried below; the sweep finds the news meanwhile.
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

function openPool(
  options: PoolConfig,
  { statementMaxMs, onIdleError }: { statementMaxMs: number; onIdleError: (error: Error) => void },
): Pool {
  const pool = new Pool({
    ...options,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementMaxMs,
    stream: () => new GatheringSocket(),
    types: { getTypeParser: parserOf },
  })
  pool.on('error', onIdleError)
  pool.on('connect', (client) => {
    // A connection that breaks in use fails its query, and also emits `error`, which must be handled.
    client.on('error', onIdleError)
    socketOf(client).on('timeout', onSilence)
  })
  pool.on('acquire', (client) => void socketOf(client).setTimeout(statementMaxMs + SILENT_MS))
  pool.on('release', (_, client) => void socketOf(client).setTimeout(0))
  return pool
}

/** The driver's own field: it has no public way to a connection's socket. */
const socketOf = (client: PoolClient): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/** Destroys a connection that is silent for too long, with all queries on it: it would block its next user. */
function onSilence(this: Socket): void {
  this.destroy(new Error('the database server does not respond'))
}

/** The driver corks and uncorks the socket for each statement. This writes all statements of one turn together. */
class GatheringSocket extends Socket {
  override uncork(): void {
    process.nextTick(() => super.uncork())
  }
}

async function migrateWith(connectionString: string, onIdleError: (error: Error) => void): Promise<void> {
  const pool = openPool({ connectionString, max: 2 }, { statementMaxMs: MIGRATION_TIMEOUT_MS, onIdleError })
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

/** A newer process changed the tables: a connection that has prepared queries before cannot be used any more. */
const isOutdated = (error: unknown): boolean => errorCode(error) === '0A000'

// serialization_failure, deadlock_detected, unique_violation: two writers collided. A retry sees the other's write.
const RACES = new Set(['40001', '40P01', '23505'])

const isWorthAnother = (error: unknown): boolean => isOutdated(error) || RACES.has(errorCode(error) ?? '')

async function retry<T>(run: () => Promise<T>, isWorthIt: (error: unknown) => boolean): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (tries >= TRIES_MAX || !isWorthIt(error)) throw error
    }
  }
}

/** Runs at most `insideMax` callers at once; the others wait in order, without a timeout. */
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
