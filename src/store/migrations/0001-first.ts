import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How the two databases differ. */
export interface Dialect {
  name: 'sqlite' | 'postgres'
}

/** The first tables. A migration on the main branch is never edited: the next change is the next file. */
export const first = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const counter = name === 'sqlite' ? sql`integer primary key autoincrement` : sql`bigserial primary key`
    // Ids and keys must sort by bytes, not by the rules of a language.
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
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
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
