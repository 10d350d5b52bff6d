import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Client } from 'pg'
import { parserOf } from './postgres.ts'
import { inTransaction } from './sqlite.ts'

// Copies everything from one database to another, of either kind: for backups, to restore them, and to move to
// PostgreSQL. Both sides have the migrated tables, with the same names.

/** Rows per read and insert: with fewer than 40 columns, below the 32,766 values that a statement may have. */
const ROWS_AT_ONCE = 500

type Row = Record<string, unknown>

export interface CopySide {
  /** Calls `each` with some rows at a time, table after table. Reads one snapshot while others may write. */
  readAll(each: (table: string, rows: readonly Row[]) => Promise<void>): Promise<void>
  /** Runs `work`, which inserts rows, in one transaction. @throws NotEmpty if anything is stored already */
  fill(work: (put: (table: string, rows: readonly Row[]) => Promise<void>) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** A copy needs an empty database: the rows of two databases cannot be merged. */
export class NotEmpty extends Error {}

/** Copies everything. @returns the number of rows of each table */
export async function copyAll(from: CopySide, to: CopySide): Promise<ReadonlyMap<string, number>> {
  const copied = new Map<string, number>()
  await to.fill((put) =>
    from.readAll(async (table, rows) => {
      await put(table, rows)
      copied.set(table, (copied.get(table) ?? 0) + rows.length)
    }),
  )
  return copied
}

// The migrator's own tables record which migrations a database has: each keeps its own.
const isCopied = (table: string): boolean => !table.startsWith('kysely_') && !table.startsWith('sqlite_')

/** @param path an existing file with its tables */
export function sqliteSide(path: string): CopySide {
  const db = new DatabaseSync(path)
  db.exec('pragma busy_timeout = 10000; pragma synchronous = full')
  const tables = (): string[] =>
    db
      .prepare("select name from sqlite_master where type = 'table' order by name")
      .all()
      .map(({ name }) => String(name))
      .filter(isCopied)

  const within = (begin: string, work: () => Promise<void>) => inTransaction(db, () => db.exec(begin), work)

  return {
    readAll: (each) =>
      within('begin', async () => {
        for (const table of tables()) {
          const rows = db.prepare(`select * from ${quoted(table)} order by rowid`)
          for (const some of inParts(rows.iterate())) await each(table, some)
        }
      }),
    fill: (work) =>
      within('begin immediate', async () => {
        for (const table of tables())
          if (db.prepare(`select 1 from ${quoted(table)} limit 1`).get()) throw new NotEmpty(table)
        await work(async (table, rows) => {
          const names = Object.keys(rows[0]!)
          const places = names.map(() => '?').join(', ')
          const insert = db.prepare(`insert into ${quoted(table)} (${names.map(quoted).join(', ')}) values (${places})`)
          for (const row of rows) insert.run(...(names.map((name) => row[name]) as SQLInputValue[]))
        })
      }),
    close: async () => db.close(),
  }
}

function* inParts(rows: Iterable<Row>): Iterable<readonly Row[]> {
  let part: Row[] = []
  for (const row of rows) {
    part.push(row)
    if (part.length < ROWS_AT_ONCE) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

/** @param url `postgres://user:password@host/database`, with its tables */
export async function postgresSide(url: string): Promise<CopySide> {
  const client = new Client({ connectionString: url, types: { getTypeParser: parserOf } })
  await client.connect()
  const tables = async (): Promise<string[]> => {
    const { rows } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = current_schema() order by tablename`,
    )
    return rows.map(({ name }) => name).filter(isCopied)
  }

  async function within(begin: string, work: () => Promise<void>): Promise<void> {
    await client.query(begin)
    try {
      await work()
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  }

  async function put(table: string, rows: readonly Row[]): Promise<void> {
    const names = Object.keys(rows[0]!)
    const places = rows.map((_, at) => `(${names.map((_name, i) => `$${at * names.length + i + 1}`).join(', ')})`)
    const values = rows.flatMap((row) => names.map((name) => row[name]))
    await client.query(
      `insert into ${quoted(table)} (${names.map(quoted).join(', ')}) values ${places.join(', ')}`,
      values,
    )
  }

  return {
    readAll: (each) =>
      within('begin isolation level repeatable read read only', async () => {
        for (const table of await tables()) {
          await client.query(`declare rows no scroll cursor for select * from ${quoted(table)}`)
          for (;;) {
            const { rows } = await client.query<Row>(`fetch ${ROWS_AT_ONCE} from rows`)
            if (rows.length === 0) break
            await each(table, rows)
          }
          await client.query('close rows')
        }
      }),
    fill: (work) =>
      within('begin', async () => {
        const all = await tables()
        for (const table of all) {
          // Keeps other connections from writing meanwhile.
          await client.query(`lock table ${quoted(table)} in exclusive mode`)
          const { rows } = await client.query(`select 1 from ${quoted(table)} limit 1`)
          if (rows.length > 0) throw new NotEmpty(table)
        }
        await work(put)
        for (const table of all) await advanceSequences(client, table)
      }),
    close: () => client.end(),
  }
}

/** Makes the table's sequences continue after the highest inserted number. */
async function advanceSequences(client: Client, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = current_schema() and table_name = $1 and column_default like 'nextval(%'`,
    [table],
  )
  for (const { name } of rows)
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), coalesce(max(${quoted(name)}), 0) + 1, false) from ${quoted(table)}`,
      [quoted(table), name],
    )
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
