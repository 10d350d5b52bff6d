import type { Compilable, CompiledQuery, Insertable, Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Compiled queries by name: one cache for each store, so for each dialect. */
export type Compiled = Map<string, CompiledQuery>

/** Names the value that stands at a place of the query. */
export type Value<Values> = <Name extends keyof Values & string>(name: Name) => Values[Name]

export type RunQuery = <Values extends object, Row>(
  name: string,
  values: Values,
  build: (value: Value<Values>) => Compilable<Row>,
) => Promise<Row[]> | Row[]

/** Inserts one row into a table that numbers its rows. @returns the number, which stands in the column `key` */
export type Insert = <Table extends 'fact' | 'delivery'>(
  table: Table,
  key: keyof Schema[Table] & string,
  row: Insertable<Schema[Table]>,
) => Promise<number> | number

/**
 * Executes a compiled query by the shortest way that the database has. One that has the answer at once gives it at once: a
 * promise on each floor costs more than the answer.
 */
export interface Execute {
  rows(query: CompiledQuery, parameters: readonly unknown[]): Promise<readonly unknown[]> | readonly unknown[]
  /** Where the database tells the number of a row that it inserted: to have it returned as a row costs as much again. */
  inserted?(query: CompiledQuery, parameters: readonly unknown[]): number
}

/**
 * Asks a query that is compiled once by its name; later only the values are put in. On the ways that every delivery and
 * every message take, Kysely's compiler would cost more than the database's own work. Elsewhere queries are written plainly.
 * The text of the query must depend on nothing but its name; a LIMIT is part of both, since SQLite plans a statement anew
 * whenever a bound one is set.
 */
export const createQuery = (compiled: Compiled, execute: Execute): RunQuery =>
  function runQuery<Values extends object, Row>(
    name: string,
    values: Values,
    build: (value: Value<Values>) => Compilable<Row>,
  ) {
    const query = compiledOnce(compiled, name, build)
    return execute.rows(query, filledIn(query, values)) as Promise<Row[]> | Row[]
  }

export const createInsert = (db: Kysely<Schema>, compiled: Compiled, execute: Execute): Insert =>
  function insert(table, key, row) {
    const query = compiledOnce(compiled, `insert ${table}`, (value) => {
      const one = db.insertInto(table).values(columns(row, value))
      return execute.inserted ? one : one.returning(key)
    })
    if (execute.inserted) return execute.inserted(query, filledIn(query, row))
    return Promise.resolve(execute.rows(query, filledIn(query, row))).then(
      ([inserted]) => (inserted as Record<string, number>)[key]!,
    )
  }

function compiledOnce(
  compiled: Compiled,
  name: string,
  build: (value: (place: string) => never) => Compilable,
): CompiledQuery {
  const known = compiled.get(name)
  if (known) return known
  const query = build((place) => new Placeholder(place) as never).compile()
  compiled.set(name, query)
  return query
}

function filledIn({ parameters }: CompiledQuery, values: object): unknown[] {
  const known = values as Record<string, unknown>
  return parameters.map((one) => (one instanceof Placeholder ? known[one.name] : one))
}

/** The same columns, each standing for the value of its name. */
export const columns = <Row extends object>(row: Row, value: (name: keyof Row & string) => Row[keyof Row]): Row =>
  Object.fromEntries(Object.keys(row).map((name) => [name, value(name as keyof Row & string)])) as Row

/** Stands for a value that comes with each execution. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
