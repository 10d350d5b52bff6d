import { sql, type Kysely } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration'
import { type Dialect, migrationsOf } from './migrations.ts'
import type { Schema } from './schema.ts'

/**
 * Brings the tables up to date. A failure has the database's error as its `cause`. On SQLite the caller must hold the
 * transaction, because the migrator takes no lock there.
 */
export async function migrate(db: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const migrations = migrationsOf(dialect)
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
 * 12), so an older process can run beside the newer one.
 */
async function isUpToDate(db: Kysely<Schema>, names: readonly string[]): Promise<boolean> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return false
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db)
  const done = new Set(rows.map(({ name }) => name))
  return names.every((name) => done.has(name))
}
