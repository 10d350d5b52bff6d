import { sql, type Compilable, type CompiledQuery, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import type { Projects } from '../records.ts'
import type { Schema } from '../schema.ts'

/** Compiled queries by name: one cache for each store, so for each dialect. */
export type Compiled = Map<string, CompiledQuery>

/** Gives the placeholder for a value, by the value's name. */
export type Value<Values> = <Name extends keyof Values & string>(name: Name) => Values[Name]

export type RunQuery = <Values extends object, Row>(
  name: string,
  values: Values,
  build: (value: Value<Values>) => Compilable<Row>,
) => Promise<Row[]> | Row[]

/**
 * Executes a compiled query in the database's fastest way. SQLite returns rows at once and not in a promise: a promise
 * at each level would cost more than the query. A statement that returns nothing gives `[]`, on PostgreSQL before it is done.
 */
export type Execute = (
  query: CompiledQuery,
  parameters: readonly unknown[],
) => Promise<readonly unknown[]> | readonly unknown[]

/**
 * Runs a query that is compiled once per name; later only its values are filled in. For every delivery and message,
 * Kysely's compiler would cost more than the database's own work. Elsewhere queries are written plainly. The text of
 * the query must depend only on its name. A LIMIT is part of both, because SQLite plans a statement again for each
 * bound LIMIT.
 */
export const createQuery = (compiled: Compiled, execute: Execute): RunQuery =>
  function runQuery<Values extends object, Row>(
    name: string,
    values: Values,
    build: (value: Value<Values>) => Compilable<Row>,
  ) {
    const query = compiled.get(name) ?? build((place) => new Placeholder(place) as never).compile()
    compiled.set(name, query)
    return execute(query, filledIn(query, values)) as Promise<Row[]> | Row[]
  }

/**
 * The kinds of named locks, each with its own number: a build may have the same name as a revision. The numbers must
 * never change, because an older process may hold the same locks.
 */
const LOCKS = { build: 0, revision: 1, other: 2 }

/** Locks a name until the transaction ends. PostgreSQL only: the transactions of SQLite follow each other. */
export const lock = (db: Kysely<Schema>, runQuery: RunQuery, what: keyof typeof LOCKS, name: string) =>
  runQuery(`lock ${what}`, { name }, (value) =>
    db.selectNoFrom(
      sql`pg_advisory_xact_lock(hashtextextended(${value('name')}, ${sql.lit(LOCKS[what])}))`.as('locked'),
    ),
  )

function filledIn({ parameters }: CompiledQuery, values: object): unknown[] {
  const known = values as Record<string, unknown>
  return parameters.map((one) => (one instanceof Placeholder ? known[one.name] : one))
}

/** The same columns, each with a placeholder for its value. */
export const columns = <Row extends object>(row: Row, value: (name: keyof Row & string) => Row[keyof Row]): Row =>
  Object.fromEntries(Object.keys(row).map((name) => [name, value(name as keyof Row & string)])) as Row

/** Stands for a value that is given with each execution. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/**
 * These values as rows with the column `key`. They travel as one parameter, because both databases limit how many there
 * are. Both know `json_each`, which gives the keys of an object.
 */
export const amongKeys = (values: Iterable<string>): RawBuilder<{ key: string }> =>
  sql<{ key: string }>`(select key from json_each(${keysJson(values)}))`

/** Whether a column has one of these values. */
export const isAmong = (column: string, values: Iterable<string>): RawBuilder<SqlBool> =>
  sql<SqlBool>`${sql.ref(column)} in ${amongKeys(values)}`

// Neither half a character nor U+0000 can be in a text that PostgreSQL stores.
const keysJson = (values: Iterable<string>): string =>
  JSON.stringify(
    Object.fromEntries([...values].filter((one) => one.isWellFormed() && !one.includes('\0')).map((one) => [one, 1])),
  )

/** Whether a column has the id of one of these projects. */
export function ofProjects(column: string, projects: Projects): RawBuilder<SqlBool> {
  if ('only' in projects) return isAmong(column, projects.only)
  const isDelivered = sql<SqlBool>`exists (select 1 from heard as known where known.project_id = ${sql.ref(column)})`
  return projects.except.length === 0 ? isDelivered : sql`${isDelivered} and not (${isAmong(column, projects.except)})`
}
