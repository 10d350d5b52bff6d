import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** The ids that channels had before Slack gave them others. */
export const movedChannels = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    await sql`create table moved_channel (former_id ${key} primary key, id ${key} not null)`.execute(db)
  },
})
