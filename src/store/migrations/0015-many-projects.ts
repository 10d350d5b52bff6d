import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/**
 * What lists for people are read from, however many projects there are: names in lower case; which builds are the newest
 * of their project, and which leave their branch red.
 */
export const manyProjects = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    await run(db, [
      sql`alter table project add column name_key ${key}`,
      sql`alter table heard add column name_key ${key}`,
      sql`alter table heard add column full_key ${key}`,
      sql`alter table build add column newest integer not null default 0`,
      sql`alter table build add column red integer not null default 0`,
    ])
    await fillKeys(db)
    await run(db, [
      sql`update build set newest = 1 where not exists (
          select 1 from build as later where later.project_id = build.project_id
            and (later.build_order, later.build_key) > (build.build_order, build.build_key))`,
      sql`update build set red = 1 where status in ('failed', 'infrastructure_failure')
          and coalesce(branch, '') not like '% · merge queue' and coalesce(branch, '') not like '% · tag'
          and not exists (select 1 from build as later where later.branch_key = build.branch_key
            and later.status in ('success', 'failed', 'infrastructure_failure')
            and (later.build_order, later.build_key) > (build.build_order, build.build_key))`,
      // With the id, a search reads the index alone.
      sql`create index project_key on project (name_key, uuid)`,
      sql`create index heard_name on heard (name_key)`,
      sql`create index heard_full on heard (full_key, project_id)`,
      sql`create index heard_uuid on heard (project_uuid) where project_uuid is not null`,
      sql`create index build_newest on build (at) where newest = 1`,
      sql`create index build_newest_of on build (project_id) where newest = 1`,
      sql`create index build_red_now on build (at) where red = 1`,
      sql`create index build_red_in on build (project_id) where red = 1`,
      sql`create index build_red_on on build (branch_key) where red = 1`,
      sql`create index fact_ended_at on fact (at, seq, project_id, build_id) where verdict = 1`,
      sql`create index breakage_open_at on breakage (began_at) where ended_at is null`,
    ])
  },
})

async function run(db: Kysely<unknown>, statements: readonly ReturnType<typeof sql>[]): Promise<void> {
  for (const statement of statements) await statement.execute(db)
}

/** Not with SQL: databases differ in what they make of letters beyond a to z. */
async function fillKeys(db: Kysely<unknown>): Promise<void> {
  const projects = await sql<{ uuid: string; name: string }>`select uuid, name from project`.execute(db)
  for (const { uuid, name } of projects.rows)
    await sql`update project set name_key = ${name.toLowerCase()} where uuid = ${uuid}`.execute(db)
  const heard = await sql<{ id: string; name: string; full: string | null }>`
    select project_id as id, name, full_name as full from heard`.execute(db)
  for (const { id, name, full } of heard.rows)
    await sql`update heard set name_key = ${name.toLowerCase()}, full_key = ${(full ?? name).toLowerCase()}
      where project_id = ${id}`.execute(db)
}
