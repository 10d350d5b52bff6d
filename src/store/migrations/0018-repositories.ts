import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Dialect } from './0001-first.ts'

/** The repository of each workflow of GitHub, by its id: a channel may follow all of them, under whatever name. */
export const repositories = ({ name }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    const repository =
      name === 'sqlite'
        ? sql`substr(project_id, 1, 6 + instr(substr(project_id, 8), ':'))`
        : sql`split_part(project_id, ':', 1) || ':' || split_part(project_id, ':', 2)`
    const statements = [
      sql`alter table heard add column repository text`,
      sql`update heard set repository = ${repository} where project_id like 'github:%'`,
      sql`create index heard_repository on heard (repository) where repository is not null`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
})
