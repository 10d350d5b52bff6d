import { SHARED_POSTGRES, startOwnPostgres } from './postgres.ts'

/** One PostgreSQL for a whole run: each test makes databases of its own in it. */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await startOwnPostgres()
  if ('impossible' in server) return async () => {}
  process.env[SHARED_POSTGRES] = server.addressOf('postgres')
  return async () => server[Symbol.asyncDispose]()
}
