import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SHARED_POSTGRES, startOwnPostgres } from './postgres.ts'

/**
 * Shared by all tests of a run: one PostgreSQL server, in which each creates databases, Node's compile cache, and the
 * bundle that processes run.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const cache = mkdtempSync(join(tmpdir(), 'buildline-compiled-'))
  process.env['NODE_COMPILE_CACHE'] = cache
  const [server] = await Promise.all([startOwnPostgres(), import('../../bundle.ts')])
  if (!('impossible' in server)) process.env[SHARED_POSTGRES] = server.addressOf('postgres')
  return async () => {
    if (!('impossible' in server)) await server[Symbol.asyncDispose]()
    rmSync(cache, { recursive: true, force: true })
  }
}
