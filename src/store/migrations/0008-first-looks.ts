import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The first look at a project's builds is its baseline: when that was. */
export const firstLooks: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table project add column looked_at bigint`.execute(db)
  },
}
