import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** Digests of channels: schedule, and content of the newest. The index is for figures, which read builds by end. */
export const digests = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`create table digest (channel ${key} primary key, kind text not null, weekday integer, minute integer not null,
          zone text not null, set_by text not null, set_at bigint not null, next_at bigint not null, period text,
          due_at bigint, planned_at bigint, view text)`,
      sql`create index digest_next on digest (next_at)`,
      sql`create index fact_ended on fact (project_id, at, seq) where verdict = 1`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
