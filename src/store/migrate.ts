import { sql, type Kysely } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration'
import { first, type Dialect } from './migrations/0001-first.ts'
import { requests } from './migrations/0002-requests.ts'
import { interactions } from './migrations/0003-interactions.ts'
import { projectsAndPeople } from './migrations/0004-projects-and-people.ts'
import { upkeep } from './migrations/0005-upkeep.ts'
import { severalProcesses } from './migrations/0006-several-processes.ts'
import { acknowledged } from './migrations/0007-acknowledged.ts'
import { firstLooks } from './migrations/0008-first-looks.ts'
import { buildNumbers } from './migrations/0009-build-numbers.ts'
import { breakages } from './migrations/0010-breakages.ts'
import { reports } from './migrations/0011-reports.ts'
import { digests } from './migrations/0012-digests.ts'
import { reminders } from './migrations/0013-reminders.ts'
import { deliveredNames } from './migrations/0014-delivered-names.ts'
import { manyProjects } from './migrations/0015-many-projects.ts'
import { ends } from './migrations/0016-ends.ts'
import { deliveryKeys } from './migrations/0017-delivery-keys.ts'
import { repositories } from './migrations/0018-repositories.ts'
import { lateAndPlain } from './migrations/0019-late-and-plain.ts'
import { movedChannels } from './migrations/0020-moved-channels.ts'
import type { Schema } from './schema.ts'

/**
 * Brings the tables up to date. A failure has the database's error as its `cause`. On SQLite the caller holds the
 * transaction, because the migrator takes no lock there.
 */
export async function migrate(db: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const migrations = {
    '0001-first': first(dialect),
    '0002-requests': requests(dialect),
    '0003-interactions': interactions(dialect),
    '0004-projects-and-people': projectsAndPeople(dialect),
    '0005-upkeep': upkeep(dialect),
    '0006-several-processes': severalProcesses(dialect),
    '0007-acknowledged': acknowledged,
    '0008-first-looks': firstLooks,
    '0009-build-numbers': buildNumbers,
    '0010-breakages': breakages(dialect),
    '0011-reports': reports(dialect),
    '0012-digests': digests(dialect),
    '0013-reminders': reminders,
    '0014-delivered-names': deliveredNames,
    '0015-many-projects': manyProjects(dialect),
    '0016-ends': ends,
    '0017-delivery-keys': deliveryKeys(dialect),
    '0018-repositories': repositories(dialect),
    '0019-late-and-plain': lateAndPlain,
    '0020-moved-channels': movedChannels(dialect),
  }
  if (await isUpToDate(db, Object.keys(migrations))) return
  const migrator = new Migrator({
    db,
    disableTransactions: dialect.name === 'sqlite',
    provider: { getMigrations: async () => migrations },
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw new Error('the database could not be brought up to date', { cause: error })
}

/**
 * Whether all of our migrations are done. There may be more, made by a newer version. A migration only adds (decision
 * 12), so an older process that starts beside the newer one finds everything it knows.
 */
async function isUpToDate(db: Kysely<Schema>, names: readonly string[]): Promise<boolean> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return false
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db)
  const done = new Set(rows.map(({ name }) => name))
  return names.every((name) => done.has(name))
}
