import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What Slack sent, so that another process can carry out what a dead one has left. */
export const lateInteractions: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table interaction add column body text`.execute(db)
  },
}
