import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The number that people see for a build, if it is not its id. */
export const buildNumbers: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table build add column number text`.execute(db)
    await sql`create index build_number on build (number) where number is not null`.execute(db)
  },
}
