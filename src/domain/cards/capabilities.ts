import { isUuid, sourceOf, type SourceName, type Uuid } from '../ids.ts'
import { isOpen, type Action, type Request } from './request.ts'
import { hasEnded, type Attempt } from '../builds/attempt.ts'
import { HELD_STATUS, type Status } from '../builds/status.ts'

/** What can be done with an attempt now. At most one action fits its state. */
export interface Capabilities {
  /** the actions that are possible; none while a request for the action is open */
  offers: readonly Action[]
  /** why the action that fits the state is not possible */
  missing: { action: Action; why: MissingCapability } | null
  /** the uuid of the build that Stop would stop, if CI cannot confirm that it is this one */
  unconfirmed: Uuid | null
}

/** There is a sentence for each. */
export type MissingCapability =
  | 'no-github'
  | 'no-gitlab'
  | 'no-v2'
  | 'no-legacy'
  | 'no-build-uuid'
  | 'no-build-number'
  | 'pro-project'
  | 'project-unknown'

/** The interfaces of CI, and the other sources, that have credentials. */
export interface Configured {
  v2: boolean
  legacy: boolean
  github?: boolean
  gitlab?: boolean
}

/** The known facts about a build's project. */
type Project = { uuid: Uuid; legacyId: string | null; type: string | null } | null

export function capabilitiesOf(
  attempt: Attempt,
  requests: readonly Request[],
  configured: Configured,
  project: Project,
): Capabilities {
  const source = sourceOf(attempt.buildEvents[0]!.projectId)
  const action = fittingAction(attempt, source)
  const isPossible = action !== null && !isRequested(action, attempt, requests)
  const why = isPossible ? missingFor(action, attempt, source, configured, project) : null
  return {
    offers: isPossible && why === null ? [action] : [],
    missing: isPossible && why !== null ? { action, why } : null,
    unconfirmed: listsBuilds(configured, project) ? null : attempt.details.buildUuid,
  }
}

/** A build can be stopped while it runs, and restarted if it has ended or never ran. */
function fittingAction(attempt: Attempt, source: SourceName): Action | null {
  const { status, rawStatus, details } = attempt
  if (STOPPABLE[source].has(status)) return rawStatus === HELD_STATUS ? null : 'stop'
  // GitLab reruns only the jobs that did not pass. If all passed, it does nothing.
  const isUseless = details.end?.how === 'invalid' || (source === 'gitlab' && status === 'success')
  return hasEnded(attempt) && !isUseless ? 'restart' : null
}

// GitLab does not cancel a pipeline that waits for a manual job.
const STOPPABLE: Record<SourceName, ReadonlySet<Status>> = {
  ci: new Set(['started']),
  github: new Set(['queued', 'started', 'waiting']),
  gitlab: new Set(['queued', 'started']),
}

const isRequested = (action: Action, attempt: Attempt, requests: readonly Request[]): boolean =>
  requests.some(
    (request) =>
      request.action === action &&
      request.buildId === attempt.buildId &&
      request.attempt === attempt.n &&
      isOpen(request),
  )

function missingFor(
  action: Action,
  { buildId, details }: Attempt,
  source: SourceName,
  configured: Configured,
  project: Project,
): MissingCapability | null {
  if (source !== 'ci') return configured[source] ? null : `no-${source}`
  if (action === 'restart') {
    if (!configured.legacy) return 'no-legacy'
    if (isBasic(project)) return isUuid(buildId) ? 'no-build-number' : null
    return project?.type === 'pro' ? 'pro-project' : 'project-unknown'
  }
  // A stop needs both uuids. They can be looked up where CI lists the builds.
  if (!configured.v2) return 'no-v2'
  if (listsBuilds(configured, project)) return null
  if (details.buildUuid === null) return 'no-build-uuid'
  return details.projectUuid !== null || project !== null ? null : 'project-unknown'
}

/** Whether CI lists the project's builds, so that a build's uuid can be looked up and confirmed. */
const listsBuilds = ({ legacy }: Configured, project: Project): boolean => legacy && isBasic(project)

/** A project of unknown type with an id is Basic: ids mostly come from the legacy interface, which lists only those. */
const isBasic = (project: Project): boolean =>
  project !== null && (project.type === 'basic' || (project.legacyId !== null && project.type !== 'pro'))
