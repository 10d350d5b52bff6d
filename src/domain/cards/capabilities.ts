import { isUuid, sourceOf, type SourceName, type Uuid } from '../ids.ts'
import { GATE_ACTIONS, GATES_OF, isOfGate, isOpen, type Action, type GateAction, type Request } from './request.ts'
import { hasEnded, type Attempt } from '../builds/attempt.ts'
import { HELD_STATUS, type Status } from '../builds/status.ts'

/** What can be done with an attempt now. */
export interface Capabilities {
  /** the actions that are possible, in the order of their buttons; none while a request for the action is open */
  offers: readonly Action[]
  /** the first action that fits the state and is not possible, and why */
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
  | 'not-reviewer'

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
  const judged = fittingActions(attempt, source)
    .filter((action) => !isRequested(action, attempt, requests))
    .map((action) => ({ action, why: missingFor(action, attempt, source, configured, project) }))
  const missing = judged.find((one): one is NonNullable<Capabilities['missing']> => one.why !== null) ?? null
  return {
    offers: judged.filter(({ why }) => why === null).map(({ action }) => action),
    missing,
    unconfirmed: listsBuilds(configured, project) ? null : attempt.details.buildUuid,
  }
}

/**
 * A build can be let through its gates while it waits, stopped while it runs, and restarted if it has ended or never ran.
 */
function fittingActions(attempt: Attempt, source: SourceName): Action[] {
  const { status, rawStatus, details } = attempt
  const atGates = GATE_ACTIONS.filter((action) => gatesFor(action, attempt).length > 0)
  if (STOPPABLE[source].has(status)) return rawStatus === HELD_STATUS ? atGates : [...atGates, 'stop']
  // GitLab reruns only the jobs that did not pass. If all passed, it does nothing.
  const isUseless = details.end?.how === 'invalid' || (source === 'gitlab' && status === 'success')
  return hasEnded(attempt) && !isUseless ? [...atGates, 'restart'] : atGates
}

export const gatesFor = (action: GateAction, { status, details: { gates } }: Pick<Attempt, 'status' | 'details'>) =>
  status === 'waiting' ? (gates ?? []).filter(({ kind }) => GATES_OF[action].includes(kind)) : []

// GitLab does not cancel a pipeline that waits for a manual job.
const STOPPABLE: Record<SourceName, ReadonlySet<Status>> = {
  ci: new Set(['started']),
  github: new Set(['queued', 'started', 'waiting']),
  gitlab: new Set(['queued', 'started']),
}

/** A gate is open or closed: a request to approve it also counts as one to reject it. */
const isRequested = (action: Action, attempt: Attempt, requests: readonly Request[]): boolean =>
  requests.some(
    (request) =>
      (request.action === action || (isOfGate(action) && isOfGate(request.action))) &&
      request.buildId === attempt.buildId &&
      request.attempt === attempt.n &&
      isOpen(request),
  )

function missingFor(
  action: Action,
  attempt: Attempt,
  source: SourceName,
  configured: Configured,
  project: Project,
): MissingCapability | null {
  const { buildId, details } = attempt
  if (source !== 'ci' && !configured[source]) return `no-${source}`
  // Only what the source lets our token do is offered.
  if (isOfGate(action)) return gatesFor(action, attempt).some(({ isOurs }) => isOurs) ? null : 'not-reviewer'
  if (source !== 'ci') return null
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
