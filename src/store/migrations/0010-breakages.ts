import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** Red streaks and their owners. A branch that is red already gets its breakage with its next failure. */
export const breakages = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`create table breakage (id text primary key, branch_key ${key} not null, project_id text not null,
          branch text not null, began_at bigint not null, began_order ${key} not null, builds integer not null,
          newest_order ${key} not null, lineage_key ${key} not null, episode integer not null, ended_at bigint,
          ended_build text, owner text, owned_at bigint, owner_until bigint, snoozed_until bigint)`,
      sql`create unique index breakage_open on breakage (branch_key) where ended_at is null`,
      sql`create index breakage_open_project on breakage (project_id, began_at) where ended_at is null`,
      sql`create index breakage_branch on breakage (branch_key, began_order)`,
      sql`create index breakage_card on breakage (lineage_key, episode)`,
      sql`create index breakage_owner on breakage (owner) where owner is not null and ended_at is null`,
      sql`create table breakage_change (id text primary key, breakage_id text not null, ask_key text unique,
          kind text not null, made_by text not null, made_to text, until bigint, at bigint not null,
          subject ${key} not null)`,
      sql`create index breakage_change_of on breakage_change (breakage_id)`,
      sql`create index breakage_change_subject on breakage_change (subject, at)`,
      sql`create index breakage_change_at on breakage_change (at, id)`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
