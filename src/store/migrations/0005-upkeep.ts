import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** Scheduled work is done by one process at a time, and asks CI about builds that have been silent for long. */
export const upkeep = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`create table lease (name ${key} primary key, held_by text not null, held_until bigint not null)`,
      sql`alter table build add column asked_at bigint`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
