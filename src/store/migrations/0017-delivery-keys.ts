import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** What identifies a delivery, however often its source sends it. */
export const deliveryKeys = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const key = name === 'sqlite' ? sql`text` : sql`text collate "C"`
    const statements = [
      sql`alter table delivery add column key ${key}`,
      sql`create unique index delivery_key on delivery (key) where key is not null`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
