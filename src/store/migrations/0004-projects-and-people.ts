import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** Projects, subscriptions and people are changed from Slack. */
export const projectsAndPeople = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`alter table subscription add column slot ${key}`,
      sql`alter table subscription add column changed_by text`,
      sql`alter table subscription add column changed_at bigint`,
      sql`create unique index subscription_slot on subscription (channel, slot)`,
      sql`alter table channel add column told_at bigint`,
      sql`alter table person add column inactive_at bigint`,
      sql`alter table person add column checked_at bigint not null default 0`,
      sql`create index person_user on person (user_id)`,
      sql`create index person_checked on person (checked_at, user_id)`,
      sql`create table person_setting (user_id text primary key, mentions integer not null)`,
      sql`alter table project add column filter text`,
      sql`alter table request add column project_uuid ${key}`,
      sql`create unique index request_project on request (project_uuid)
          where run is null and state in ('calling', 'accepted', 'unclear')`,
      // Requests about builds and about projects that are due are queried separately.
      sql`drop index request_look`,
      sql`create index request_look on request (look_at) where look_at is not null and run is not null`,
      sql`create index request_look_project on request (look_at) where look_at is not null and run is null`,
      sql`alter table build add column committer ${key}`,
      sql`create index build_red on build (committer, at)
          where committer is not null and status in ('failed', 'infrastructure_failure')`,
      sql`create index build_waiting on build (at) where status = 'waiting'`,
    ]
    for (const statement of statements) await statement.execute(db)
    await nameCommitters(db)
  },
})

// Only for red builds that are the newest of their branch: the others are never queried. Parsed here and not in the
// database: PostgreSQL reads no text from JSON that has a NUL anywhere in it.
async function nameCommitters(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ build_key: string; details: string }>`
    select build_key, details from fact where episode is not null and build_key in (
      select build_key from build where status in ('failed', 'infrastructure_failure') and not exists (
        select 1 from build as newer where newer.branch_key = build.branch_key and newer.build_order > build.build_order))
    order by seq`.execute(db)
  const committers = new Map<string, string>()
  for (const { build_key: build, details } of rows) {
    const { committer } = JSON.parse(details) as { committer?: string | null }
    if (committer) committers.set(build, committer.trim().toLowerCase())
  }
  for (const [build, committer] of committers)
    await sql`update build set committer = ${committer} where build_key = ${build}`.execute(db)
}
