import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** Several processes share the work: who is alive, who has a call to Slack in flight, and when the next may be made. */
export const severalProcesses = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`create table presence (id ${key} primary key, alive_until bigint not null)`,
      sql`create table slot (lane ${key} not null, channel ${key} not null, free_at bigint not null, call ${key},
          primary key (lane, channel))`,
      sql`alter table card add column call ${key}`,
      sql`alter table card add column call_by ${key}`,
      sql`create index card_call on card (call_by) where call_by is not null`,
      sql`alter table pace add column call ${key}`,
      sql`create table event (id ${key} primary key, heard_at bigint not null)`,
      sql`create index event_heard on event (heard_at)`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
