import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Which deliveries were answered. A sender without an answer repeats it, perhaps after the build has ended. */
export const acknowledged: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table fact add column acknowledged integer not null default 1`.execute(db)
  },
}
