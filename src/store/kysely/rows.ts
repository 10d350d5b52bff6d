import type { Selectable } from 'kysely'
import type { Schema } from '../schema.ts'

/** Translates between a field's value and what its column holds. */
interface Codec<Value> {
  store(value: Value): unknown
  read(stored: never): Value
}

/** A column with the same value as its field, or a column with its codec. */
type Column<Table extends keyof Schema, Value> =
  | (keyof Schema[Table] & string)
  | readonly [keyof Schema[Table] & string, Codec<Value>]

/** 0 or 1. */
export const FLAG: Codec<boolean> = { store: (is) => (is ? 1 : 0), read: (stored: number) => stored === 1 }

/** JSON text. Null is stored as null. */
export const JSON_TEXT: Codec<never> = {
  store: (value: unknown) => (value === null ? null : JSON.stringify(value)),
  read: (stored: string | null) => (stored === null ? null : JSON.parse(stored)) as never,
}

/** The column of each field of a record. */
export type Columns<Table extends keyof Schema, Type> = { [Field in keyof Type]-?: Column<Table, Type[Field]> }

/** Maps records to rows and back. */
export function mapping<Table extends keyof Schema, Type>(columnOf: Columns<Table, Type>) {
  type Row = Selectable<Schema[Table]>
  const fields = Object.entries(columnOf as Record<string, Column<Table, never>>).map(([field, column]) =>
    typeof column === 'string' ? { field, column } : { field, column: column[0], codec: column[1] },
  )
  return {
    columns: fields.map(({ column }) => column),
    /** Typed as a whole row, but with only the columns of the fields that the record has. Fields without a column are left out. */
    toRow(record: Partial<Type>): Row {
      const row: Record<string, unknown> = {}
      for (const { field, column, codec } of fields) {
        const value = record[field as keyof Type] as never
        if (field in record) row[column] = codec ? codec.store(value) : value
      }
      return row as Row
    },
    fromRow(row: Partial<Row>): Type {
      const record: Record<string, unknown> = {}
      for (const { field, column, codec } of fields) {
        const stored = row[column as keyof Row] as never
        record[field] = codec ? codec.read(stored) : stored
      }
      return record as Type
    },
  }
}
