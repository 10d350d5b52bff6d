import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { normalHandle } from '../domain/handle.ts'

/** How the two databases differ. */
export interface Dialect {
  name: 'sqlite' | 'postgres'
}

/** All migrations by name, which is also their order. */
export const migrationsOf = (dialect: Dialect): Record<string, Migration> =>
  Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, stepsIn]) => [
      name,
      {
        async up(db: Kysely<unknown>) {
          for (const step of stepsIn(WORDS[dialect.name]))
            await (typeof step === 'function' ? step(db) : step.execute(db))
        },
      },
    ]),
  )

type Step = RawBuilder<unknown> | ((db: Kysely<unknown>) => Promise<void>)

interface Words {
  counter: RawBuilder<unknown>
  /** Ids and keys must sort by bytes, not by the rules of a language. */
  key: RawBuilder<unknown>
  /** The repository in the id of a workflow of GitHub. */
  repository: RawBuilder<unknown>
}

const WORDS: Record<Dialect['name'], Words> = {
  sqlite: {
    counter: sql`integer primary key autoincrement`,
    key: sql`text`,
    repository: sql`substr(project_id, 1, 6 + instr(substr(project_id, 8), ':'))`,
  },
  postgres: {
    counter: sql`bigserial primary key`,
    key: sql`text collate "C"`,
    repository: sql`split_part(project_id, ':', 1) || ':' || split_part(project_id, ':', 2)`,
  },
}

const STARTS = sql.raw("'initiated', 'testing'")
const FINALS = sql.raw("'success', 'error', 'failed', 'stopped', 'infrastructure_failure', 'ignored', 'blocked'")

/** The last part of a name (`web` of `acme/web`). Never change it: the indexes `project_last` and `heard_last` have it. */
export const lastPartOf = (key: 'name_key' | 'full_key'): RawBuilder<string> =>
  sql`(replace(${sql.ref(key)}, rtrim(${sql.ref(key)}, replace(${sql.ref(key)}, '/', '')), ''))`

/** One that is on the main branch is never edited: the next change is the next entry. */
const MIGRATIONS: Record<string, (words: Words) => readonly Step[]> = {
  /** The first tables. */
  '0001-first': ({ counter, key }) => [
    sql`create table delivery (id ${counter}, received_at bigint not null, answer text not null,
        fact_seq bigint not null, body text not null)`,
    sql`create table fact (seq ${counter}, at bigint not null, origin text not null, project_id text not null,
        build_id text not null, build_key ${key} not null, build_order ${key} not null, lineage_key ${key} not null,
        episode integer, branch_key ${key} not null, branch text, commit_id text, word text not null,
        verdict integer not null, details text not null, repeats integer not null default 0)`,
    sql`create index fact_build on fact (build_key)`,
    sql`create index fact_lineage on fact (lineage_key, episode)`,
    sql`create index fact_verdict on fact (branch_key, build_order, seq) where verdict = 1`,
    sql`create table intake (lineage_key ${key} primary key, due_at bigint not null, priority integer not null,
        stamp bigint not null)`,
    sql`create index intake_due on intake (priority, due_at)`,
    sql`create table decision (fact_seq bigint not null, channel text not null, subject ${key} not null,
        verdict text not null, reason text not null, rules_from text not null, looked text not null,
        recovered integer not null, loud integer not null, notice_day text, decided_at bigint not null, primary key (fact_seq, channel))`,
    sql`create index decision_subject on decision (subject, channel)`,
    sql`create index decision_notice on decision (notice_day, channel) where notice_day is not null`,
    sql`create table card (subject ${key} not null, channel ${key} not null, quiet integer not null,
        mention integer not null, post_at bigint, post_priority integer, edit_at bigint, edit_priority integer,
        look_at bigint, look_priority integer, attempts integer not null, plain integer not null, problem text,
        primary key (subject, channel))`,
    sql`create index card_post on card (channel, post_priority, post_at) where post_at is not null`,
    sql`create index card_edit on card (edit_priority, edit_at) where edit_at is not null`,
    sql`create index card_look on card (look_priority, look_at) where look_at is not null`,
    sql`create table message (key text primary key, subject ${key} not null, channel ${key} not null,
        slot text not null, generation integer not null, state text not null, claimed_at bigint not null,
        claimed_by text not null, looked_at bigint, ts text, digest text, sending text, sending_at bigint,
        recheck_at bigint, doubt_at bigint, written_at bigint, born_run text, unique (subject, channel, slot, generation))`,
    sql`create table pace (id ${counter}, lane text not null, channel text not null, at bigint not null)`,
    sql`create index pace_at on pace (at)`,
    sql`create table channel (id text primary key, closed_code text, closed_at bigint, retry_at bigint)`,
    sql`create table project (uuid text primary key, name text not null, legacy_id text, rules text,
        read_at bigint not null)`,
    sql`create index project_name on project (name)`,
    sql`create index project_legacy on project (legacy_id)`,
    sql`create table subscription (id ${counter}, channel text not null, follows text not null, rules text,
        quiet integer not null, mention text not null, created_by text not null, created_at bigint not null)`,
    sql`create table person (handle text primary key, user_id text not null, claimed_at bigint not null)`,
    sql`create table job (name text primary key, last_done_at bigint not null)`,
  ],
  /**
   * Requests about builds, and the state of each build. From now on a fact without an episode is itself the mark that its
   * lineage has news; `intake` keeps wakes without a fact, and postponed lineages.
   */
  '0002-requests': ({ key }) => [
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
    hearProjects,
  ],
  /** Interactions from Slack that need an answer: stored before they are acknowledged. */
  '0003-interactions': ({ key }) => [
    sql`create table interaction (id ${key} primary key, ask_key ${key} not null, state text not null,
        user_id text not null, what text not null, channel text, thread_ts text, response_url text,
        received_at bigint not null, claimed_by text not null, claimed_at bigint not null)`,
    sql`create index interaction_ask on interaction (ask_key)`,
    sql`create index interaction_owed on interaction (received_at) where state <> 'told'`,
  ],
  /** Projects, subscriptions and people are changed from Slack. */
  '0004-projects-and-people': ({ key }) => [
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
    nameCommitters,
  ],
  /** Scheduled work is done by one process at a time, and asks CI about builds that have been silent for long. */
  '0005-upkeep': ({ key }) => [
    sql`create table lease (name ${key} primary key, held_by text not null, held_until bigint not null)`,
    sql`alter table build add column asked_at bigint`,
  ],
  /** Several processes share the work: who is alive, who has a call to Slack in flight, and when the next may be made. */
  '0006-several-processes': ({ key }) => [
    sql`create table presence (id ${key} primary key, alive_until bigint not null)`,
    sql`create table slot (lane ${key} not null, channel ${key} not null, free_at bigint not null, call ${key},
        primary key (lane, channel))`,
    sql`alter table card add column call ${key}`,
    sql`alter table card add column call_by ${key}`,
    sql`create index card_call on card (call_by) where call_by is not null`,
    sql`alter table pace add column call ${key}`,
    sql`create table event (id ${key} primary key, heard_at bigint not null)`,
    sql`create index event_heard on event (heard_at)`,
  ],
  /** Which deliveries were answered. A sender without an answer repeats it, perhaps after the build has ended. */
  '0007-acknowledged': () => [sql`alter table fact add column acknowledged integer not null default 1`],
  /** When a project's builds were first read: that read is their baseline. */
  '0008-first-looks': () => [sql`alter table project add column looked_at bigint`],
  /** The number that people see for a build, if it is not its id. */
  '0009-build-numbers': () => [
    sql`alter table build add column number text`,
    sql`create index build_number on build (number) where number is not null`,
  ],
  /** Red streaks and their owners. A branch that is red already gets its breakage with its next failure. */
  '0010-breakages': ({ key }) => [
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
  ],
  /** Test reports of build steps, also of builds that are not known yet. */
  '0011-reports': ({ counter, key }) => [
    sql`create table report (id ${counter}, build_key ${key} not null, attempt_seq bigint not null,
        received_at bigint not null, body text not null)`,
    sql`create index report_build on report (build_key)`,
    sql`create index report_early on report (received_at) where attempt_seq = 0`,
  ],
  /** Digests of channels: schedule, and content of the newest. The index is for figures, which read builds by end. */
  '0012-digests': ({ key }) => [
    sql`create table digest (channel ${key} primary key, kind text not null, weekday integer, minute integer not null,
        zone text not null, set_by text not null, set_at bigint not null, next_at bigint not null, period text,
        due_at bigint, planned_at bigint, view text)`,
    sql`create index digest_next on digest (next_at)`,
    sql`create index fact_ended on fact (project_id, at, seq) where verdict = 1`,
  ],
  /** Reminders of red branches: a subscription's rule, and each reminder once. */
  '0013-reminders': () => [
    sql`alter table subscription add column remind text`,
    sql`alter table breakage_change add column channel text`,
    sql`alter table breakage_change add column number integer`,
    sql`create unique index breakage_change_number on breakage_change (breakage_id, channel, number)`,
  ],
  /** What deliveries say of a known project, until its source is asked; and builds by their id, whatever their project. */
  '0014-delivered-names': () => [
    sql`alter table project add column claim text`,
    sql`create index project_claim on project (uuid) where claim is not null`,
    sql`create index build_id on build (build_id)`,
  ],
  /**
   * What lists for people are read from, however many projects there are: names in lower case; which builds are the newest
   * of their project, and which leave their branch red.
   */
  '0015-many-projects': ({ key }) => [
    sql`alter table project add column name_key ${key}`,
    sql`alter table heard add column name_key ${key}`,
    sql`alter table heard add column full_key ${key}`,
    sql`alter table build add column newest integer not null default 0`,
    sql`alter table build add column red integer not null default 0`,
    fillKeys,
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
  ],
  /**
   * Builds that have ended, and whose jobs may say more about it; when red branches were last looked for, and which are
   * gone; and the names that projects had before.
   */
  '0016-ends': () => [
    sql`alter table build add column read_end_at bigint`,
    sql`alter table build add column forgotten integer not null default 0`,
    sql`alter table breakage add column checked_at bigint`,
    sql`create table former_name (name_key text primary key, uuid text not null, of_repository integer not null)`,
    sql`create index build_read_end on build (read_end_at) where read_end_at is not null`,
  ],
  /** What identifies a delivery, however often its source sends it. */
  '0017-delivery-keys': ({ key }) => [
    sql`alter table delivery add column key ${key}`,
    sql`create unique index delivery_key on delivery (key) where key is not null`,
  ],
  /** The repository of each workflow of GitHub, by its id: a channel may follow all of them, under whatever name. */
  '0018-repositories': ({ repository }) => [
    sql`alter table heard add column repository text`,
    sql`update heard set repository = ${repository} where project_id like 'github:%'`,
    sql`create index heard_repository on heard (repository) where repository is not null`,
  ],
  /**
   * What Slack sent, so that another process can carry out what a dead one has left. And the names of committers in the form
   * in which they are compared now: `O’Neil` and `O'Neil` are one person, of two claims the first one counts.
   */
  '0019-late-and-plain': () => [sql`alter table interaction add column body text`, normalizeHandles],
  /** The ids that channels had before Slack gave them others. */
  '0020-moved-channels': ({ key }) => [
    sql`create table moved_channel (former_id ${key} primary key, id ${key} not null)`,
  ],
  /** How much of what failed a channel is shown. */
  '0021-details': () => [
    sql`alter table subscription add column details text`,
    sql`alter table card add column details text`,
  ],
  /** What each outcome did to its branch. Older outcomes are judged when their cards are next ingested. */
  '0022-judgements': () => [sql`alter table fact add column judgement text`],
  /** Red branches are counted, and projects found by the last part of a name, however many there are. */
  '0023-counted-and-named': () => [
    sql`create index build_red_left on build (branch_key, build_order, project_id) where red = 1`,
    sql`create index project_last on project (${lastPartOf('name_key')})`,
    sql`create index heard_last on heard (${lastPartOf('full_key')})`,
  ],
}

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

async function normalizeHandles(db: Kysely<unknown>): Promise<void> {
  const { rows: claims } = await sql<{ handle: string }>`select handle from person order by claimed_at`.execute(db)
  const first = new Map(claims.toReversed().map(({ handle }) => [normalHandle(handle), handle]))
  for (const { handle } of claims)
    if (first.get(normalHandle(handle)) !== handle) await sql`delete from person where handle = ${handle}`.execute(db)
  for (const [normal, handle] of first)
    if (normal !== handle) await sql`update person set handle = ${normal} where handle = ${handle}`.execute(db)
  const { rows: committers } = await sql<{ committer: string }>`
    select distinct committer from build where committer is not null`.execute(db)
  for (const { committer } of committers) {
    const normal = normalHandle(committer)
    if (normal !== committer)
      await sql`update build set committer = ${normal} where committer = ${committer}`.execute(db)
  }
}
