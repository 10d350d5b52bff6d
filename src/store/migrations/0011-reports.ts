import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** Test reports of build steps, also of builds that are not known yet. */
export const reports = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const counter = name === 'sqlite' ? sql`integer primary key autoincrement` : sql`bigserial primary key`
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`create table report (id ${counter}, build_key ${key} not null, attempt_seq bigint not null,
          received_at bigint not null, body text not null)`,
      sql`create index report_build on report (build_key)`,
      sql`create index report_early on report (received_at) where attempt_seq = 0`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
