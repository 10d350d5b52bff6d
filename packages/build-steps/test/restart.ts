import type { StubAnswer, StubRequest } from '../../../test/support/http-stub.ts'
import type { Ended } from './support.ts'
import { runProgram } from './support.ts'

/** A key with characters that each kind of URL encoding writes differently. */
export const KEY = 'k3y/of+the account'

/** Runs service_restart_build for acme/web (11) on main; `changes` override its environment. */
export const restart = (
  changes: Readonly<Record<string, string | undefined>> = {},
  args: readonly string[] = [],
): Promise<Ended> => runProgram('service_restart_build', args, { env: { ...ENVIRONMENT, ...changes } })

const ENVIRONMENT = {
  SERVICE_API_KEY: KEY,
  SERVICE_API_PROJECT_ID: '11',
  SERVICE_API_BRANCH: 'main',
  SERVICE_API_URL: 'http://127.0.0.1:4010',
}

interface Play {
  project?: Record<string, unknown>
  restart?: StubAnswer
}

/** Plays CI with one failed build, #512. */
export function playing({ project = {}, restart: answer = { json: { id: 512 } } }: Play) {
  const shown = { builds: [{ id: 512, status: 'error', branch: 'main' }], ...project }
  return ({ method }: StubRequest): StubAnswer => (method === 'GET' ? { json: shown } : answer)
}
