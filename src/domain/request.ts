import {
  idOrder,
  isBuildId,
  sourceOf,
  isProjectId,
  type BuildId,
  type ChannelId,
  type ProjectId,
  type Uuid,
} from './ids.ts'
import type { BuildEvent } from './build-event.ts'
import type { Attempt } from './attempt.ts'
import { isFinal } from './status.ts'

// What people ask of CI. CI is called at most once: the request is recorded first and called after it, and when the outcome
// is unclear, CI is read, never asked again.

export type Action = 'stop' | 'restart'

/**
 * How far a request has come. `calling`: recorded, and CI is being called (or the caller has died). `accepted`: CI
 * said yes, no build event shows it yet. `unclear`: how the call ended is not known. `confirmed`: a build event shows that it happened.
 * `refused`: CI has surely done nothing. `unconfirmed`: nothing showed within CONFIRM_WITHIN_MS that it happened.
 */
export type RequestState = 'calling' | 'accepted' | 'unclear' | 'confirmed' | 'refused' | 'unconfirmed'

/** While a request is open, nobody else can ask the same of the same attempt. */
export const OPEN_STATES = ['calling', 'accepted', 'unclear'] as const satisfies readonly RequestState[]

export const isOpen = ({ state }: Pick<RequestRecord, 'state'>): boolean =>
  state === 'calling' || state === 'accepted' || state === 'unclear'

/** What happened to a request: CI's answer, or what CI showed when it was read. */
export type RequestEvent =
  /** CI said yes; from `lookAt` on CI is read for what became of it */
  | { kind: 'accepted'; lookAt: number }
  /** CI has certainly done nothing */
  | { kind: 'refused'; code: string; reason?: string | null }
  /** CI may have done it */
  | { kind: 'unclear'; code: string; reason?: string | null; lookAt: number }
  /** CI shows that it happened; `code`: what is remarkable about it */
  | { kind: 'shown'; code?: string | null }
  /** CI did not show it in time */
  | { kind: 'not-shown'; code: string }
  /** CI showed nothing new */
  | { kind: 'look-later'; lookAt: number }

/** The states, and what each event makes of them. An event that is not listed changes nothing. */
const NEXT: Record<RequestState, Partial<Record<RequestEvent['kind'], RequestState>>> = {
  calling: {
    accepted: 'accepted',
    refused: 'refused',
    unclear: 'unclear',
    shown: 'confirmed',
    'not-shown': 'unconfirmed',
  },
  accepted: { shown: 'confirmed', 'not-shown': 'unconfirmed', 'look-later': 'accepted' },
  // Its caller was taken for dead and may answer after all.
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

/** What an event changes of a request; null: nothing. */
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

/** After this time a call to CI has its answer, or its caller is dead. */
export const CALLING_MAX_MS = 90_000

/** How long CI has to show what it was asked for, until it is read and the request ends. */
export const CONFIRM_WITHIN_MS = 2 * 60_000

/** How much longer it is tried when CI cannot be read. */
export const GIVE_UP_MS = 10 * 60_000

/** How far the clocks of two processes may differ: one received the attempt and another one confirmed the request. */
export const CLOCKS_DIFFER_MS = 60_000

/** One execution of a build, by name: what a button is about. */
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

/** What was asked about, in words and ids, as it was known when it was asked. */
export interface RequestTarget {
  project: string
  branch: string | null
  projectUuid: Uuid | null
  buildUuid: Uuid | null
}

/** What requests about builds and about projects have in common. All times are ms since the epoch. */
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
  /** when CI is to be read for what became of it */
  lookAt: number | null
  endedAt: number | null
}

/** A request to stop or restart a build. */
export interface Request extends RequestRecord, AttemptRef {
  action: Action
  revisionKey: string
  subject: string
  target: RequestTarget
  /** what CI answered to a restart */
  newBuildId: BuildId | null
  newBuildUuid: Uuid | null
}

/** What changes of a request as it goes on. */
export type RequestChange = Partial<
  Pick<RequestRecord, 'state' | 'code' | 'reason' | 'answeredAt' | 'lookAt' | 'endedAt' | 'claimedBy'> &
    Pick<Request, 'newBuildId' | 'newBuildUuid'> &
    // Of a project that is being created.
    Pick<ProjectRequest, 'projectUuid'>
>

/**
 * The attempt that shows what became of a request, when the build events show it.
 * @param all the requests of the revision: what one of them brought about is not another one's
 */
export function shownBy(request: Request, attempts: readonly Attempt[], all: readonly Request[] = []): Attempt | null {
  // What happens after a refusal is somebody else's doing.
  if (request.state === 'refused') return null
  return (request.action === 'stop' ? endOf(request, attempts) : startedBy(request, attempts, all)) ?? null
}

function endOf({ buildId, attempt: n }: Request, attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find((attempt) => attempt.buildId === buildId && attempt.n >= n && isFinal(attempt.status))
}

// Our own word that it runs again confirms nothing: CI's must.
function startedBy(request: Request, attempts: readonly Attempt[], all: readonly Request[]): Attempt | undefined {
  return attempts.find((attempt) => isResultOf(request, attempt, all) && attempt.isConfirmedByCi)
}

/** What tells whether an attempt is the one that was asked for. */
type Begun = Pick<Attempt, 'buildId' | 'buildOrder' | 'n' | 'firstAt'>

/** Is this the attempt that the restart brought about? */
export function isResultOf(request: Request, attempt: Begun, all: readonly Request[] = []): boolean {
  if (request.action !== 'restart' || request.state === 'refused' || wasDoneBefore(request, attempt)) return false
  // On a card of its own, after a long rest, runs are counted from one again.
  const isNext = isNextOf(request, attempt) || attempt.n === 1
  if (attempt.buildId === request.buildId) return isNext && attempt.firstAt >= request.requestedAt
  if (request.newBuildId !== null) return attempt.buildId === request.newBuildId && attempt.n === 1
  // The other sources run the same build again, always.
  if (sourceOf(request.projectId) !== 'ci') return false
  // CI's answer was lost or named no build: a newer build of the same commit that began after we asked is the one,
  // unless CI named it in answer to somebody else, before this request was taken to be done.
  if (request.state !== 'confirmed' && all.some((other) => isNamedFor(other, attempt))) return false
  // A build that has no number is never asked to be restarted.
  return attempt.buildOrder > idOrder(request.buildId) && attempt.n === 1 && attempt.firstAt >= request.requestedAt
}

/** The other sources count attempts themselves: where somebody else restarted it and we never heard of that, ours is a later one. */
const isNextOf = ({ projectId, attempt }: Request, { n }: Begun): boolean =>
  sourceOf(projectId) === 'ci' ? n === attempt + 1 : n > attempt

/** What confirmed it had begun by then; the same build, or another one of the commit, may run for other reasons later. */
const wasDoneBefore = ({ state, endedAt }: Request, { firstAt }: Pick<Attempt, 'firstAt'>): boolean =>
  state === 'confirmed' && endedAt !== null && firstAt > endedAt + CLOCKS_DIFFER_MS

// CI answers a restart of a newer build itself with that build's name too: that is about its next attempt.
const isNamedFor = (other: Request, attempt: Begun): boolean =>
  other.newBuildId === attempt.buildId && isResultOf(other, attempt)

/**
 * The latest request that says something of this attempt: asked about it, or brought it about.
 * @param attempts all of its card, oldest first
 */
export function lastRequestOf(
  attempt: Attempt,
  requests: readonly Request[],
  attempts: readonly Attempt[] = [],
): Request | null {
  // Of several that may be its result the first one is: those after it are somebody else's doing.
  const isResult = (request: Request) =>
    isResultOf(request, attempt, requests) && [attempt, undefined].includes(startedBy(request, attempts, requests))
  const isAbout = (request: Request) => request.buildId === attempt.buildId && request.attempt === attempt.n
  return requests.findLast((request) => isAbout(request) || isResult(request)) ?? null
}

/** Restarts that make the next start of the same build a new attempt: not those of which CI says that they never happened. */
export const restartRequests = (requests: readonly Request[]) =>
  requests
    .filter(({ action, state, code }) => action === 'restart' && state !== 'refused' && code !== 'not-restarted')
    .map(({ buildId, requestedAt }) => ({ buildId, at: requestedAt }))

/** The build events that count: our own word of another build that CI then never showed stands for nothing. */
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

export const PROJECT_ACTIONS = ['create-project', 'edit-project', 'reset-aes-key'] as const

export type ProjectAction = (typeof PROJECT_ACTIONS)[number]

/** A request to create or change a project. While one is open, there is no other of the same project. */
export interface ProjectRequest extends RequestRecord {
  action: ProjectAction
  /** the project's name */
  project: string
  /** null while it is being created */
  projectUuid: Uuid | null
  /** the fields that were to change: their names, never their values */
  what: readonly string[]
  /** how CI's values stood before, by field: digests, to tell later whether the change was made */
  before: Readonly<Record<string, string>>
}

export const isProjectRequest = (request: Request | ProjectRequest): request is ProjectRequest =>
  PROJECT_ACTIONS.some((action) => action === request.action)
