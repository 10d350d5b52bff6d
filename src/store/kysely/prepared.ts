import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Stands for a value that comes with each execution. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A query that was compiled once: `execute` only puts the values in. */
export interface Prepared<Values, Row> {
  execute(db: Kysely<Schema>, values: Values): Promise<Row[]>
}

/**
 * Compiles a query once, with placeholders for its values. On the way of a delivery Kysely's compiler would cost more than
 * the database's own work; everywhere else queries are written plainly.
 * @param build makes the query; each `value('x')` is what `execute` gets as `x`
 */
export function prepare<Values extends object, Row>(
  build: (value: <Name extends keyof Values & string>(name: Name) => Values[Name]) => Compilable<Row>,
): Prepared<Values, Row> {
  let compiled: CompiledQuery<Row> | null = null
  return {
    async execute(db, values) {
      compiled ??= build((name) => new Placeholder(name) as never).compile()
      const known = values as Record<string, unknown>
      const parameters = compiled.parameters.map((one) => (one instanceof Placeholder ? known[one.name] : one))
      return (await db.executeQuery<Row>({ ...compiled, parameters })).rows
    },
  }
}
