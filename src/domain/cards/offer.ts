import { isUuid, sourceOf, type SourceName, type Uuid } from '../ids.ts'
import { GATES_OF, isOpen, type Action, type Request } from './request.ts'
import { hasEnded, type Attempt } from '../builds/attempt.ts'
import { HELD_STATUS, type Status } from '../builds/status.ts'

/** The interfaces of CI, and the other sources, that have credentials. */
export interface Interfaces {
  v2: boolean
  legacy: boolean
  github?: boolean
  gitlab?: boolean
}

/** The ways to call CI for a build, and the known facts about its project. */
export interface Facilities extends Interfaces {
  project: { uuid: Uuid; legacyId: string | null; type: string | null } | null
}

/** Why an action that fits the state cannot be offered. There is a sentence for each. */
export type Missing =
  | 'no-github'
  | 'no-gitlab'
  | 'no-v2'
  | 'no-legacy'
  | 'no-build-uuid'
  | 'no-build-number'
  | 'pro-project'
  | 'project-unknown'
  | 'not-reviewer'

/** `not-now`: the action does not fit the build's state. `asked`: a request for it is open. */
export type Offer = 'offered' | 'asked' | 'not-now' | Missing

/** Whether this attempt can be stopped. The CI service needs both uuids, which can be looked up for Basic projects. */
export function offerOfStop(attempt: Attempt, facilities: Facilities, requests: readonly Request[]): Offer {
  const source = sourceOfAttempt(attempt)
  if (!STOPPABLE[source].has(attempt.status) || attempt.rawStatus === HELD_STATUS) return 'not-now'
  if (isRequested('stop', attempt, requests)) return 'asked'
  if (source !== 'ci') return facilities[source] ? 'offered' : `no-${source}`
  const { v2, legacy, project } = facilities
  if (!v2) return 'no-v2'
  const canLookUp = legacy && isBasic(project)
  const { buildUuid, projectUuid } = attempt.details
  if (buildUuid === null) return canLookUp ? 'offered' : 'no-build-uuid'
  return projectUuid !== null || project !== null || canLookUp ? 'offered' : 'project-unknown'
}

/**
 * Whether this attempt can be restarted: only if it has ended or never ran; at the CI service, only in a Basic project.
 */
export function offerOfRestart(attempt: Attempt, facilities: Facilities, requests: readonly Request[]): Offer {
  if (!hasEnded(attempt)) return 'not-now'
  if (isRequested('restart', attempt, requests)) return 'asked'
  const source = sourceOfAttempt(attempt)
  if (attempt.details.end?.how === 'invalid') return 'not-now'
  // GitLab reruns only the jobs that did not pass. If all passed, it does nothing.
  if (source === 'gitlab' && attempt.status === 'success') return 'not-now'
  if (source !== 'ci') return facilities[source] ? 'offered' : `no-${source}`
  const { legacy, project } = facilities
  if (!legacy) return 'no-legacy'
  if (isBasic(project)) return isUuid(attempt.buildId) ? 'no-build-number' : 'offered'
  return project?.type === 'pro' ? 'pro-project' : 'project-unknown'
}

/** For each action, whether it is possible, in the order of the buttons. */
const OFFERS: Record<Action, typeof offerOfStop> = {
  approve: ofGate('approve'),
  reject: ofGate('reject'),
  play: ofGate('play'),
  stop: offerOfStop,
  restart: offerOfRestart,
}

/** Whether a person can let this attempt through a gate, or not: only what the source lets our token do is offered. */
function ofGate(action: Action): typeof offerOfStop {
  return (attempt, _, requests) => {
    const gates = gatesFor(action, attempt)
    if (gates.length === 0) return 'not-now'
    if ((['approve', 'reject', 'play'] as const).some((one) => isRequested(one, attempt, requests))) return 'asked'
    return gates.some(({ isOurs }) => isOurs) ? 'offered' : 'not-reviewer'
  }
}

/** The gates that this action can be about. */
export const gatesFor = (action: Action, { status, details: { gates } }: Pick<Attempt, 'status' | 'details'>) =>
  status === 'waiting' ? (gates ?? []).filter(({ kind }) => GATES_OF[action].includes(kind)) : []

export const offerOf = (action: Action) => OFFERS[action]

/** Every action, and whether it is possible. */
export const offersFor = (...about: Parameters<typeof offerOfStop>): [Action, Offer][] =>
  objectEntries(OFFERS).map(([action, offer]) => [action, offer(...about)])

const objectEntries = Object.entries as <Key extends string, Value>(of: Record<Key, Value>) => [Key, Value][]

// GitLab does not cancel a pipeline that waits for a manual job.
const STOPPABLE: Record<SourceName, ReadonlySet<Status>> = {
  ci: new Set(['started']),
  github: new Set(['queued', 'started', 'waiting']),
  gitlab: new Set(['queued', 'started']),
}

const sourceOfAttempt = ({ buildEvents }: Attempt): SourceName => sourceOf(buildEvents[0]!.projectId)

const isRequested = (action: Action, attempt: Attempt, requests: readonly Request[]): boolean =>
  requests.some(
    (request) =>
      request.action === action &&
      request.buildId === attempt.buildId &&
      request.attempt === attempt.n &&
      isOpen(request),
  )

/** Whether CI lists the project's builds, so that a build's uuid can be confirmed. */
export const canShowBuilds = ({ legacy, project }: Facilities): boolean => legacy && isBasic(project)

/** A project of unknown type with an id is Basic: ids mostly come from the legacy interface, which lists only those. */
const isBasic = (project: Facilities['project']): boolean =>
  project !== null && (project.type === 'basic' || (project.legacyId !== null && project.type !== 'pro'))
