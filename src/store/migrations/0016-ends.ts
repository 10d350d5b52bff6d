import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Builds that have ended, and whose jobs may say more about it; when red branches were last looked for, and which are
 * gone; and the names that projects had before.
 */
export const ends: Migration = {
  async up(db: Kysely<unknown>) {
    const statements = [
      sql`alter table build add column read_end_at bigint`,
      sql`alter table build add column forgotten integer not null default 0`,
      sql`alter table breakage add column checked_at bigint`,
      sql`create table former_name (name_key text primary key, uuid text not null, of_repository integer not null)`,
      sql`create index build_read_end on build (read_end_at) where read_end_at is not null`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
