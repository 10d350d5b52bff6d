import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** When a project's builds were first read: that read is their baseline. */
export const firstLooks: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table project add column looked_at bigint`.execute(db)
  },
}
