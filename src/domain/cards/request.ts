import {
  idOrder,
  isBuildId,
  sourceOf,
  isProjectId,
  type BuildId,
  type ChannelId,
  type ProjectId,
  type Uuid,
} from '../ids.ts'
import type { BuildEvent, Gate } from '../builds/build-event.ts'
import type { Attempt } from '../builds/attempt.ts'
import { isFinal } from '../builds/status.ts'

// Requests that people make to CI. CI is called at most once for each: the request is recorded before the call, and if
// the outcome is unclear, the bot reads CI and never repeats the call.

export type Action = 'stop' | 'restart' | 'approve' | 'reject' | 'play'

/** The actions about one gate of a build. */
export const GATE_ACTIONS = ['approve', 'reject', 'play'] as const satisfies readonly Action[]

export type GateAction = (typeof GATE_ACTIONS)[number]

/** Which gates an action lets a build through, by their kind; it is about one of them. */
export const GATES_OF: Record<GateAction, readonly Gate['kind'][]> = {
  approve: ['environment', 'run'],
  reject: ['environment'],
  play: ['job'],
}

/** Whether an action is about one gate of a build. */
export const isOfGate = (action: Action): action is GateAction => action in GATES_OF

/**
 * The state of a request. `calling`: recorded, and CI is being called (or the caller has died). `accepted`: CI said
 * yes, but no build event shows it yet. `unclear`: the outcome of the call is not known. `confirmed`: a build event
 * shows it. `refused`: CI has certainly done nothing. `unconfirmed`: nothing showed it within CONFIRM_WITHIN_MS.
 */
export type RequestState = 'calling' | 'accepted' | 'unclear' | 'confirmed' | 'refused' | 'unconfirmed'

/** While a request is open, nobody can make the same request for the same attempt. */
export const OPEN_STATES = ['calling', 'accepted', 'unclear'] as const satisfies readonly RequestState[]

export const isOpen = ({ state }: Pick<RequestRecord, 'state'>): boolean => OPEN_STATES.some((open) => open === state)

export type RequestEvent =
  /** CI said yes; from `lookAt` on, CI is read for the result */
  | { kind: 'accepted'; lookAt: number }
  /** CI has certainly done nothing */
  | { kind: 'refused'; code: string; reason?: string | null }
  /** CI may have done it */
  | { kind: 'unclear'; code: string; reason?: string | null; lookAt: number }
  /** CI shows that it happened; `code`: anything unusual about it */
  | { kind: 'shown'; code?: string | null }
  /** CI did not show it in time */
  | { kind: 'not-shown'; code: string }
  /** CI showed nothing new */
  | { kind: 'look-later'; lookAt: number }

/** The next state, by state and event. An event that is not listed changes nothing. */
const NEXT: Record<RequestState, Partial<Record<RequestEvent['kind'], RequestState>>> = {
  calling: {
    accepted: 'accepted',
    refused: 'refused',
    unclear: 'unclear',
    shown: 'confirmed',
    'not-shown': 'unconfirmed',
  },
  accepted: { shown: 'confirmed', 'not-shown': 'unconfirmed', 'look-later': 'accepted' },
  // A caller that was presumed dead may still report its outcome.
  unclear: {
    accepted: 'accepted',
    refused: 'refused',
    unclear: 'unclear',
    shown: 'confirmed',
    'not-shown': 'unconfirmed',
    'look-later': 'unclear',
  },
  // A delivery may show it late.
  unconfirmed: { shown: 'confirmed' },
  confirmed: {},
  refused: {},
}

/** The changes that an event makes to a request; null: none. */
export function afterEvent({ state: from }: RequestRecord, event: RequestEvent, now: number): RequestChange | null {
  const state = NEXT[from][event.kind]
  if (!state) return null
  const isAnswer = from === 'calling' || ['accepted', 'refused', 'unclear'].includes(event.kind)
  return {
    state,
    ...(event.kind === 'accepted' && { code: null, reason: null }),
    ...('code' in event && { code: event.code ?? null }),
    ...('reason' in event && { reason: event.reason ?? null }),
    ...(isAnswer && { answeredAt: now }),
    lookAt: 'lookAt' in event ? event.lookAt : null,
    endedAt: isOpen({ state }) ? null : now,
  }
}

/** After this time a call to CI has ended, or its caller is dead. */
export const CALLING_MAX_MS = 90_000

/** How long CI may take to show the result. If CI does not show it then, the request ends as unconfirmed. */
export const CONFIRM_WITHIN_MS = 2 * 60_000

/** How much longer the bot tries if CI cannot be read. */
export const GIVE_UP_MS = 10 * 60_000

/** How far the clocks of two processes may differ: one may receive the attempt, and another one confirm the request. */
export const CLOCKS_DIFFER_MS = 60_000

/** Names one attempt of a build. */
export interface AttemptRef {
  projectId: ProjectId
  buildId: BuildId
  attempt: number
}

/** `41/512.1`: what a button carries. */
export const attemptRefText = ({ projectId, buildId, attempt }: AttemptRef): string =>
  `${projectId}/${buildId}.${attempt}`

export function parseAttemptRef(text: string): AttemptRef | null {
  const [, projectId = '', buildId = '', attempt] = /^([^/]{1,60})\/([\da-f-]{1,36})\.(\d{1,9})$/.exec(text) ?? []
  return isProjectId(projectId) && isBuildId(buildId) ? { projectId, buildId, attempt: Number(attempt) } : null
}

/** The target's names and ids as they were known when the request was made. */
export interface RequestTarget {
  project: string
  branch: string | null
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  /** left out: the action is about the whole build */
  gate?: Pick<Gate, 'kind' | 'id' | 'name'>
}

/** The common fields of requests about builds and about projects. All times are ms since the epoch. */
export interface RequestRecord {
  id: string
  /** Slack's id of the interaction: a repetition of it is the same request */
  interactionKey: string
  action: Action | ProjectAction
  state: RequestState
  /** a Slack user */
  requestedBy: string
  requestedTeam: string | null
  channel: ChannelId | null
  via: 'command' | 'button' | 'shortcut' | 'mention' | 'modal'
  requestedAt: number
  /** the process that calls CI */
  claimedBy: string
  /** why it was refused or is unclear: CI's kind of answer, such as `not-found` */
  code: string | null
  /** CI's own words, cleaned */
  reason: string | null
  answeredAt: number | null
  /** when CI is to be read for the result */
  lookAt: number | null
  endedAt: number | null
}

/** A request to act on a build. */
export interface Request extends RequestRecord, AttemptRef {
  action: Action
  revisionKey: string
  subject: string
  target: RequestTarget
  /** what CI answered to a restart */
  newBuildId: BuildId | null
  newBuildUuid: Uuid | null
}

export type RequestChange = Partial<
  Pick<RequestRecord, 'state' | 'code' | 'reason' | 'answeredAt' | 'lookAt' | 'endedAt' | 'claimedBy'> &
    Pick<Request, 'newBuildId' | 'newBuildUuid'> &
    // The uuid of a project that is being created.
    Pick<ProjectRequest, 'projectUuid'>
>

/**
 * The attempt that shows the result of a request; null: no build event shows it yet.
 * @param all the requests of the revision: the result of one request is not the result of another
 */
export function shownBy(request: Request, attempts: readonly Attempt[], all: readonly Request[] = []): Attempt | null {
  // CI refused the request, so whatever happened later has another cause.
  if (request.state === 'refused') return null
  return RESULTS[request.action].shownBy(request, attempts, all) ?? null
}

/** What each action brings about. */
const RESULTS: Record<Action, ActionResult> = {
  stop: { shownBy: endOf, notShown: 'still-running' },
  restart: { shownBy: startedBy, notShown: 'not-restarted' },
  approve: { shownBy: throughGate, notShown: 'not-decided' },
  reject: { shownBy: throughGate, notShown: 'not-decided' },
  play: { shownBy: throughGate, notShown: 'still-waiting' },
}

interface ActionResult {
  /** the attempt that shows it */
  shownBy: (request: Request, attempts: readonly Attempt[], all: readonly Request[]) => Attempt | undefined
  /** the request's code if its source does not show it in time */
  notShown: string
}

/** The code of a request whose result its source did not show in time. */
export const notShownCode = ({ action }: Request): string => RESULTS[action].notShown

function endOf({ buildId, attempt: n }: Request, attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find((attempt) => attempt.buildId === buildId && attempt.n >= n && isFinal(attempt.status))
}

// Only a look-up says that it is through: a build also leaves the gate when it is stopped.
function throughGate({ state, buildId, attempt }: Request, attempts: readonly Attempt[]): Attempt | undefined {
  return state === 'confirmed' ? attempts.find((one) => one.buildId === buildId && one.n === attempt) : undefined
}

// Our own `action` event confirms nothing: CI must show the attempt.
function startedBy(request: Request, attempts: readonly Attempt[], all: readonly Request[]): Attempt | undefined {
  return attempts.find((attempt) => isResultOf(request, attempt, all) && attempt.isConfirmedByCi)
}

/** The part of an attempt that shows whether it is the result of a request. */
type Begun = Pick<Attempt, 'buildId' | 'buildOrder' | 'n' | 'firstAt'>

/** Whether this attempt is the result of the restart. */
export function isResultOf(request: Request, attempt: Begun, all: readonly Request[] = []): boolean {
  if (request.action !== 'restart' || request.state === 'refused' || wasDoneBefore(request, attempt)) return false
  // On a new card, after the revision has rested, attempts are numbered from 1 again.
  const isNext = isNextOf(request, attempt) || attempt.n === 1
  if (attempt.buildId === request.buildId) return isNext && attempt.firstAt >= request.requestedAt
  if (request.newBuildId !== null) return attempt.buildId === request.newBuildId && attempt.n === 1
  // GitHub and GitLab always run the same build again.
  if (sourceOf(request.projectId) !== 'ci') return false
  // CI's answer was lost or named no build: a newer build of the commit that began after the request is the result,
  // unless CI named that build for another request before this one was confirmed.
  if (request.state !== 'confirmed' && all.some((other) => isNamedFor(other, attempt))) return false
  // `idOrder` is safe here: only builds with a number can be restarted.
  return attempt.buildOrder > idOrder(request.buildId) && attempt.n === 1 && attempt.firstAt >= request.requestedAt
}

/** GitHub and GitLab number attempts themselves: if we missed another restart, the result has a higher number. */
const isNextOf = ({ projectId, attempt }: Request, { n }: Begun): boolean =>
  sourceOf(projectId) === 'ci' ? n === attempt + 1 : n > attempt

/** Whether the request was confirmed before this attempt began, so that the attempt has another cause. */
const wasDoneBefore = ({ state, endedAt }: Request, { firstAt }: Pick<Attempt, 'firstAt'>): boolean =>
  state === 'confirmed' && endedAt !== null && firstAt > endedAt + CLOCKS_DIFFER_MS

// If the newer build is restarted itself, CI names it too, but as its next attempt: `isResultOf` tells the two apart.
const isNamedFor = (other: Request, attempt: Begun): boolean =>
  other.newBuildId === attempt.buildId && isResultOf(other, attempt)

/**
 * The latest request that was made about this attempt or that started it.
 * @param attempts all attempts of its card, oldest first
 */
export function lastRequestOf(
  attempt: Attempt,
  requests: readonly Request[],
  attempts: readonly Attempt[] = [],
): Request | null {
  // If several attempts can be the result of a request, only the first one is: later ones have another cause.
  const isResult = (request: Request) =>
    isResultOf(request, attempt, requests) && [attempt, undefined].includes(startedBy(request, attempts, requests))
  const isAbout = (request: Request) => request.buildId === attempt.buildId && request.attempt === attempt.n
  return requests.findLast((request) => isAbout(request) || isResult(request)) ?? null
}

/** The restarts that make the build's next start a new attempt: not those that CI refused or did not carry out. */
export const restartRequests = (requests: readonly Request[]) =>
  requests
    .filter(({ action, state, code }) => action === 'restart' && state !== 'refused' && code !== 'not-restarted')
    .map(({ buildId, requestedAt }) => ({ buildId, at: requestedAt }))

/** The build events that count: without our own `action` events for new builds that CI then never showed. */
export function credible<One extends BuildEvent>(
  buildEvents: readonly One[],
  requests: readonly Request[],
): readonly One[] {
  const neverShown = requests.filter(({ state, code }) => state === 'unconfirmed' && code === 'not-restarted')
  if (neverShown.length === 0) return buildEvents
  return buildEvents.filter(
    ({ origin, buildId }) => origin !== 'action' || !neverShown.some(({ newBuildId }) => newBuildId === buildId),
  )
}

export const PROJECT_ACTIONS = ['create-project', 'edit-project', 'reset-aes-key', 'run'] as const

export type ProjectAction = (typeof PROJECT_ACTIONS)[number]

/** A request to create, change or run a project. There is at most one open request for each project. */
export interface ProjectRequest extends RequestRecord {
  action: ProjectAction
  /** the project's name */
  project: string
  /** null while it is being created */
  projectUuid: Uuid | null
  /** the names of the fields to change, never their values; of a run its branch or tag, and the names of its inputs */
  what: readonly string[]
  /** digests of CI's values before the request, by field, to tell later whether the change was made */
  before: Readonly<Record<string, string>>
  /** of a run: the build that the source has started */
  newBuildId: BuildId | null
}

export const isProjectRequest = (request: Request | ProjectRequest): request is ProjectRequest =>
  PROJECT_ACTIONS.some((action) => action === request.action)
