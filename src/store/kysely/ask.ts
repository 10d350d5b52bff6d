import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Compiled queries by name: one cache for each store, so for each dialect. */
export type Compiled = Map<string, CompiledQuery>

/** Names the value that stands at a place of the query. */
export type Value<Values> = <Name extends keyof Values & string>(name: Name) => Values[Name]

export type Ask = <Values extends object, Row>(
  name: string,
  values: Values,
  build: (value: Value<Values>) => Compilable<Row>,
) => Promise<Row[]>

/** Executes a compiled query by the shortest way that the database has. */
export type Execute = (query: CompiledQuery, parameters: readonly unknown[]) => Promise<readonly unknown[]>

/** The way through Kysely's driver, which every database has. */
export const throughDriver =
  (db: Kysely<Schema>): Execute =>
  async (query, parameters) =>
    (await db.executeQuery({ ...query, parameters })).rows

/**
 * Asks a query that is compiled once by its name; later only the values are put in. On the ways that every delivery and
 * every message take, Kysely's compiler would cost more than the database's own work. Elsewhere queries are written plainly.
 * The text of the query must depend on nothing but its name; a LIMIT is part of both, since SQLite plans a statement anew
 * whenever a bound one is set.
 */
export const createAsk = (compiled: Compiled, execute: Execute): Ask =>
  async function ask<Values extends object, Row>(
    name: string,
    values: Values,
    build: (value: Value<Values>) => Compilable<Row>,
  ): Promise<Row[]> {
    let query = compiled.get(name)
    if (!query) {
      query = build((place) => new Placeholder(place) as never).compile()
      compiled.set(name, query)
    }
    const known = values as Record<string, unknown>
    const parameters = query.parameters.map((one) => (one instanceof Placeholder ? known[one.name] : one))
    return (await execute(query, parameters)) as Row[]
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
