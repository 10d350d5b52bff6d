import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Reminders of red branches: a subscription's rule, and each reminder once. */
export const reminders: Migration = {
  async up(db: Kysely<unknown>) {
    const statements = [
      sql`alter table subscription add column remind text`,
      sql`alter table breakage_change add column channel text`,
      sql`alter table breakage_change add column number integer`,
      sql`create unique index breakage_change_number on breakage_change (breakage_id, channel, number)`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
