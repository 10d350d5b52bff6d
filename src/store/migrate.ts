import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { first, type Dialect } from './migrations/0001-first.ts'
import { requests } from './migrations/0002-requests.ts'
import { interactions } from './migrations/0003-interactions.ts'
import { projectsAndPeople } from './migrations/0004-projects-and-people.ts'
import { upkeep } from './migrations/0005-upkeep.ts'
import type { Schema } from './schema.ts'

/**
 * Brings the tables up to date; a failure carries the database's own words as `cause`. On SQLite the caller holds the
 * transaction, since the migrator has no lock there.
 */
export async function migrate(db: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const migrations = {
    '0001-first': first(dialect),
    '0002-requests': requests(dialect),
    '0003-interactions': interactions(dialect),
    '0004-projects-and-people': projectsAndPeople(dialect),
    '0005-upkeep': upkeep(dialect),
  }
  const migrator = new Migrator({
    db,
    disableTransactions: dialect.name === 'sqlite',
    provider: { getMigrations: async () => migrations },
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw new Error('the database could not be brought up to date', { cause: error })
}
