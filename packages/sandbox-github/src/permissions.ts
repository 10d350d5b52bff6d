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

/**
 * The refusal of a call that needs one of these permissions. GitHub does not document whether it looks for a run first;
 * here it does not.
 */
export function refusedFor(
  lacking: ReadonlySet<Permission>,
  { method, path }: Call,
  isApp: boolean,
): Reply | undefined {
  const needed = NEEDED.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1]
  if (needed === undefined || !lacking.has(needed)) return undefined
  const reply = refuse(403, `Resource not accessible by ${isApp ? 'integration' : 'personal access token'}`)
  return { ...reply, headers: { ...reply.headers, 'x-accepted-github-permissions': needed } }
}
