import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What deliveries say of a known project, until its source is asked; and builds by their id, whatever their project. */
export const deliveredNames: Migration = {
  async up(db: Kysely<unknown>) {
    const statements = [
      sql`alter table project add column claim text`,
      sql`create index project_claim on project (uuid) where claim is not null`,
      sql`create index build_id on build (build_id)`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
