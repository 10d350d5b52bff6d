import type { Call, Reply } from '../../lib/http.ts'
import { refuse } from './api.ts'

/** As in `X-Accepted-GitHub-Permissions`, such as `checks=read`. */
export type Permission = (typeof NEEDED)[number][1]

/** The first line that fits a call counts. Source: GitHub, "Permissions required for fine-grained personal access tokens". */
const NEEDED = [
  [/^POST \/repos\/[^/]+\/[^/]+\/actions\/runs\/\d+\/pending_deployments$/, 'deployments=write'],
  [/^POST \/repos\/[^/]+\/[^/]+\/actions\//, 'actions=write'],
  [/^GET \/repos\/[^/]+\/[^/]+\/actions\//, 'actions=read'],
  [/^GET \/repos\/[^/]+\/[^/]+\/check-runs\//, 'checks=read'],
  [/^GET \/repos\/[^/]+\/[^/]+\/(?:contents|branches|git)\//, 'contents=read'],
  [/^GET \/repos\/[^/]+\/[^/]+\/pulls\//, 'pull_requests=read'],
  [/^GET \/repos\/[^/]+\/[^/]+\/hooks/, 'repository_hooks=read'],
] as const

const neededFor = ({ method, path }: Call) => NEEDED.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1]

/** GitHub sends it with every answer to an app or a fine-grained token, not only with refusals. */
export function permissionHeader(call: Call): Record<string, string> {
  const needed = neededFor(call)
  return needed === undefined ? {} : { 'x-accepted-github-permissions': needed }
}

/**
 * The refusal of a call that needs one of these permissions. GitHub does not document whether it looks for a run first;
 * here it does not.
 */
export function refusedFor(lacking: ReadonlySet<Permission>, call: Call, isApp: boolean): Reply | undefined {
  const needed = neededFor(call)
  if (needed === undefined || !lacking.has(needed)) return undefined
  return refuse(403, `Resource not accessible by ${isApp ? 'integration' : 'personal access token'}`)
}
