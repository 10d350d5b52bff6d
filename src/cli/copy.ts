import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readDatabase } from '../config/config.ts'
import { forTerminal } from '../lib/escape.ts'
import { copyAll, NotEmpty, postgresSide, sqliteSide, type CopySide } from '../store/copy.ts'
import { openStore, type DatabaseAddress } from '../store/open.ts'

const USAGE = 'Usage: npm run copy -- --from sqlite:data/buildline.db --to sqlite:backup.db'

/** Copies the bot's whole database into an empty one: to back up, to restore, or to move to PostgreSQL. */
async function copy(): Promise<void> {
  const { from, to } = readFlags()
  if (!from || !to) return giveUp(USAGE)
  const [source, target] = [await sideOf(from, '--from'), await sideOf(to, '--to')]
  try {
    const copied = await copyAll(source, target)
    for (const [table, rows] of copied) process.stdout.write(`${table}: ${rows}\n`)
    process.stdout.write(`${[...copied.values()].reduce((sum, rows) => sum + rows, 0)} rows copied\n`)
  } catch (error) {
    if (error instanceof NotEmpty) giveUp(`--to: the database is not empty (${error.message}); copy into an empty one`)
    giveUp(`Nothing was copied: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await Promise.all([source.close(), target.close()])
  }
}

async function sideOf(given: string, flag: '--from' | '--to'): Promise<CopySide> {
  const faults: string[] = []
  const database = readDatabase(given, faults)
  if (faults.length > 0) giveUp(`${flag}: ${faults.join('; ').replaceAll('DATABASE_URL', 'it')}`)
  try {
    if (flag === '--to') await migrate(database)
    else if (database.kind === 'sqlite' && !existsSync(database.path)) giveUp('--from: there is no such file')
    return database.kind === 'sqlite' ? sqliteSide(database.path) : await postgresSide(database.url)
  } catch (error) {
    return giveUp(`${flag}: the database cannot be opened: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function readFlags() {
  try {
    return parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } }).values
  } catch (error) {
    return giveUp(error instanceof Error ? error.message : 'the command line cannot be read')
  }
}

async function migrate(database: DatabaseAddress): Promise<void> {
  const store = await openStore(database)
  await store.migrate()
  await store.close()
}

/** Prints one line without a stack, since the command line is wrong, and exits with 1. */
function giveUp(why: string): never {
  process.stderr.write(`${forTerminal(why)}\n`)
  process.exit(1)
}

// Only this user may read the copy: it contains everything that the database contains.
process.umask(0o077)
await copy()
