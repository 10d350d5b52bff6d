import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/**
 * Requests about builds, and the state of each build. From now on a fact without an episode is itself the mark that its
 * lineage has news; `intake` keeps wakes without a fact, and postponed lineages.
 */
export const requests = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`alter table fact add column priority integer not null default 2`,
      sql`create index fact_unplaced on fact (priority, seq) where episode is null`,
      // Lineage keys are random. Only ingested facts are in this index, so that a delivery's insert stays sequential.
      sql`drop index fact_lineage`,
      sql`create index fact_lineage on fact (lineage_key, episode) where episode is not null`,
      sql`alter table project add column type text`,
      sql`create table build (build_key ${key} primary key, project_id text not null, build_id text not null,
          build_order ${key} not null, branch_key ${key} not null, branch text, lineage_key ${key} not null,
          episode integer not null, run integer not null, status text not null, word text not null,
          at bigint not null, is_running integer not null, build_uuid text)`,
      sql`create index build_project on build (project_id, build_order)`,
      sql`create index build_branch on build (branch_key, build_order)`,
      sql`create index build_running on build (at) where is_running = 1`,
      sql`create index build_uuid on build (build_uuid) where build_uuid is not null`,
      sql`create table heard (project_id text primary key, name text not null, full_name text, project_uuid text,
          at bigint not null)`,
      sql`create table request (id text primary key, ask_key text not null unique, action text not null,
          state text not null, build_key ${key}, run integer, lineage_key ${key}, subject ${key}, target text not null,
          asked_by text not null, asked_team text, channel text, via text not null, asked_at bigint not null,
          claimed_by text not null, code text, reason text, answered_at bigint, new_build_id text,
          new_build_uuid text, look_at bigint, ended_at bigint)`,
      sql`create unique index request_open on request (build_key, run, action)
          where state in ('calling', 'accepted', 'unclear')`,
      sql`create index request_lineage on request (lineage_key, asked_at)`,
      sql`create index request_build on request (build_key)`,
      sql`create index request_asked on request (asked_at, id)`,
      sql`create index request_look on request (look_at) where look_at is not null`,
      sql`create index message_ts on message (channel, ts) where ts is not null`,
      // Older builds get the state of their last fact that was not late. The next fact corrects it.
      sql`insert into build (build_key, project_id, build_id, build_order, branch_key, branch, lineage_key, episode,
            run, status, word, at, is_running)
          select build_key, project_id, build_id, build_order, branch_key, branch, lineage_key, episode, 1,
            case lower(word) when 'initiated' then 'started' when 'testing' then 'started' when 'error' then 'failed'
              when 'failed' then 'failed' when 'success' then 'success' when 'stopped' then 'stopped'
              when 'waiting' then 'waiting' when 'ignored' then 'ignored' when 'blocked' then 'blocked'
              when 'infrastructure_failure' then 'infrastructure_failure' else 'unknown' end,
            word, at, case when lower(word) in (${STARTS}) then 1 else 0 end
          from fact where seq in (
            select max(seq) from fact as last where episode is not null
              and (lower(word) in (${FINALS})
                or not exists (select 1 from fact as final where final.build_key = last.build_key
                  and final.seq < last.seq and lower(final.word) in (${FINALS}))
                or (lower(word) in (${STARTS}) and (
                  exists (select 1 from fact as begun where begun.build_key = last.build_key
                    and begun.seq < last.seq and lower(begun.word) in (${STARTS}))
                  or not exists (select 1 from fact as final where final.build_key = last.build_key
                    and final.seq < last.seq and lower(final.word) in (${FINALS}) and last.at - final.at <= 60000))))
            group by build_key)`,
    ]
    for (const statement of statements) await statement.execute(db)
    await hearProjects(db)
  },
})

const STARTS = sql.raw("'initiated', 'testing'")
const FINALS = sql.raw("'success', 'error', 'failed', 'stopped', 'infrastructure_failure', 'ignored', 'blocked'")

// Parsed here and not in the database: PostgreSQL reads no text from JSON that has a NUL anywhere in it.
async function hearProjects(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ project_id: string; details: string; at: number }>`
    select project_id, details, at from fact
    where seq in (select max(seq) from fact where episode is not null group by project_id)`.execute(db)
  for (const { project_id: id, details, at } of rows) {
    const said = JSON.parse(details) as Record<string, string | null | undefined>
    const [name, fullName, uuid] = [said['projectName'], said['projectFullName'], said['projectUuid']]
    await sql`insert into heard (project_id, name, full_name, project_uuid, at)
      values (${id}, ${name ?? fullName ?? `project ${id}`}, ${fullName ?? null}, ${uuid ?? null}, ${at})`.execute(db)
  }
}
