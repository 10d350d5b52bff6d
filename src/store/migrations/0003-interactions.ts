import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** Interactions from Slack that need an answer: stored before they are acknowledged. */
export const interactions = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`create table interaction (id ${key} primary key, ask_key ${key} not null, state text not null,
          user_id text not null, what text not null, channel text, thread_ts text, response_url text,
          received_at bigint not null, claimed_by text not null, claimed_at bigint not null)`,
      sql`create index interaction_ask on interaction (ask_key)`,
      sql`create index interaction_owed on interaction (received_at) where state <> 'told'`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
