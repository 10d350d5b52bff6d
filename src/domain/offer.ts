import { isUuid, sourceOf, type SourceName, type Uuid } from './ids.ts'
import { isOpen, type Action, type Request } from './request.ts'
import { hasEnded, type Attempt } from './attempt.ts'
import { HELD_WORD, type Status } from './status.ts'

/** What CI can be asked through, and what is known of the project there. */
export interface Facilities {
  v2: boolean
  legacy: boolean
  /** whether there is a token for it */
  github?: boolean
  gitlab?: boolean
  project: { uuid: Uuid; legacyId: string | null; type: string | null } | null
}

/** Why an action that fits the state cannot be offered. Each has a sentence of its own. */
export type Missing =
  | 'no-github'
  | 'no-gitlab'
  | 'no-v2'
  | 'no-legacy'
  | 'no-build-uuid'
  | 'no-build-number'
  | 'pro-project'
  | 'project-unknown'

/** `not-now`: the state does not call for it. `asked`: somebody has asked already. */
export type Offer = 'offered' | 'asked' | 'not-now' | Missing

/** Can this attempt be stopped? Stopping needs the uuids of project and build; for a Basic project CI can be asked for them. */
export function offerOfStop(attempt: Attempt, facilities: Facilities, requests: readonly Request[]): Offer {
  const source = sourceOfAttempt(attempt)
  if (!(source === 'ci' ? STOPPABLE : CANCELLABLE).has(attempt.status) || attempt.word === HELD_WORD) return 'not-now'
  if (isAsked('stop', attempt, requests)) return 'asked'
  if (source !== 'ci') return facilities[source] ? 'offered' : `no-${source}`
  const { v2, legacy, project } = facilities
  if (!v2) return 'no-v2'
  const canLookUp = legacy && isBasic(project)
  const { buildUuid, projectUuid } = attempt.details
  if (buildUuid === null) return canLookUp ? 'offered' : 'no-build-uuid'
  return projectUuid !== null || project !== null || canLookUp ? 'offered' : 'project-unknown'
}

/** Can this attempt be restarted? It has finished or was never run; of the CI service's, only one of a Basic project. */
export function offerOfRestart(attempt: Attempt, facilities: Facilities, requests: readonly Request[]): Offer {
  if (!hasEnded(attempt)) return 'not-now'
  if (isAsked('restart', attempt, requests)) return 'asked'
  const source = sourceOfAttempt(attempt)
  // GitLab runs those jobs again that did not pass, and does nothing where all did.
  if (source === 'gitlab' && attempt.status === 'success') return 'not-now'
  if (source !== 'ci') return facilities[source] ? 'offered' : `no-${source}`
  const { legacy, project } = facilities
  if (!legacy) return 'no-legacy'
  if (isBasic(project)) return isUuid(attempt.buildId) ? 'no-build-number' : 'offered'
  return project?.type === 'pro' ? 'pro-project' : 'project-unknown'
}

export const offerOf = (action: Action) => (action === 'stop' ? offerOfStop : offerOfRestart)

const STOPPABLE: ReadonlySet<Status> = new Set<Status>(['started'])
const CANCELLABLE: ReadonlySet<Status> = new Set<Status>(['queued', 'started', 'waiting'])

const sourceOfAttempt = ({ buildEvents }: Attempt): SourceName => sourceOf(buildEvents[0]!.projectId)

const isAsked = (action: Action, attempt: Attempt, requests: readonly Request[]): boolean =>
  requests.some(
    (request) =>
      request.action === action &&
      request.buildId === attempt.buildId &&
      request.attempt === attempt.n &&
      isOpen(request),
  )

/** Does CI show which builds the project has, so that a build's uuid can be confirmed? */
export const canShowBuilds = ({ legacy, project }: Facilities): boolean => legacy && isBasic(project)

/** What CI calls neither is Basic where its id is known: as a rule from the legacy interface, which lists Basic projects only. */
const isBasic = (project: Facilities['project']): boolean =>
  project !== null && (project.type === 'basic' || (project.legacyId !== null && project.type !== 'pro'))
