import {
  afterEvent,
  CALLING_MAX_MS,
  isOpen,
  isProjectRequest,
  type ProjectRequest,
  type Request,
  type RequestChange,
  type RequestEvent,
  type RequestRecord,
  type RequestState,
} from '../domain/cards/request.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { certainlyUndone } from '../sources/http/errors.ts'
import { NotAttempted, refuseGivenUp } from '../store/not-attempted.ts'
import type { Store, Tx } from '../store/store.ts'
import { causeOf, type Permits, type Requester } from './outcomes.ts'
import type { Configured } from '../domain/cards/capabilities.ts'

export interface RequestDeps {
  store: Store
  clock: Clock
  log: Log
  newId: () => string
  /** this process, as claims name it */
  processId: string
  configured: Configured
  permits: Permits
}

export function newRecord(
  { newId, clock, processId }: Pick<RequestDeps, 'newId' | 'clock' | 'processId'>,
  by: Requester,
): Omit<RequestRecord, 'action'> {
  const requestedAt = clock.now()
  return {
    id: newId(),
    interactionKey: by.interactionKey,
    state: 'calling',
    requestedBy: by.user,
    requestedTeam: by.team,
    channel: by.channel,
    via: by.via,
    requestedAt,
    claimedBy: processId,
    code: null,
    reason: null,
    answeredAt: null,
    lookAt: requestedAt + CALLING_MAX_MS,
    endedAt: null,
  }
}

/**
 * The request that this interaction has already made; null: none. Throws NotAttempted if the person was told that the
 * interaction was interrupted: then CI must not be called for it.
 */
export async function earlierRequest(tx: Tx, interactionKey: string): Promise<Request | ProjectRequest | null> {
  const repeated = await tx.requestOf(interactionKey)
  if (repeated) return repeated
  await refuseGivenUp(tx, interactionKey)
  return null
}

/** A repetition of this request, or another request for this project that is still open. */
export interface AlreadyRequested {
  kind: 'asked-already'
  by: string
  at: number
  state: RequestState
}

/** The request that this interaction has already made; null: none. */
export async function repeatedRequest({ store }: RequestDeps, by: Requester): Promise<AlreadyRequested | null> {
  const repeated = await store.read.requestOf(by.interactionKey)
  return repeated && alreadyRequested(repeated)
}

const alreadyRequested = ({ requestedBy: by, requestedAt: at, state }: RequestRecord): AlreadyRequested => ({
  kind: 'asked-already',
  by,
  at,
  state,
})

/** What a record says of a request about a project: names of fields and digests, never values. */
export type RequestedChange = Pick<ProjectRequest, 'action' | 'project' | 'projectUuid' | 'what' | 'before'>

export interface Recorded {
  kind: 'recorded'
  request: ProjectRequest
}

/** Records the request before the call: once per interaction, and at most one open for each project or new name. */
export async function recordForProject(
  deps: RequestDeps,
  change: RequestedChange,
  by: Requester,
): Promise<Recorded | AlreadyRequested> {
  const request: ProjectRequest = { ...newRecord(deps, by), ...change, newBuildId: null }
  const earlier = await deps.store.write(async (tx) => {
    const known = (await earlierRequest(tx, by.interactionKey)) ?? (await openRequest(tx, change))
    if (!known) await tx.insertRequest(request)
    return known
  })
  return earlier ? alreadyRequested(earlier) : { kind: 'recorded', request }
}

/** A project that is being created has no uuid yet, so its name identifies it. */
async function openRequest(tx: Tx, { action, project, projectUuid }: RequestedChange): Promise<ProjectRequest | null> {
  if (projectUuid !== null) return tx.openProjectRequest(projectUuid)
  // No constraint of the database forbids two open creations of one name, so the name is locked.
  await tx.lockName(`create ${project}`)
  const newest = (await tx.newestRequests(LOOKED_BACK_MAX)).filter(isProjectRequest)
  return newest.find((one) => one.action === action && one.project === project && isOpen(one)) ?? null
}

/** An open request is among this many of the newest, since it is open only for minutes. */
const LOOKED_BACK_MAX = 100

/** Runs the steps before a request is recorded: if they fail, nothing was changed. */
export const beforeRecord = <Ready>(work: Promise<Ready>): Promise<Ready> =>
  work.catch((error: unknown) => {
    throw error instanceof NotAttempted ? error : new NotAttempted('it failed before that', error)
  })

export type CallResult<Answer> =
  | { kind: 'answered'; answer: Answer }
  /** CI has certainly done nothing */
  | { kind: 'refused'; code: string; reason: string | null }
  /** CI may have done it */
  | { kind: 'unclear'; code: string; reason: string | null }

/** Calls CI once for a request that is recorded already. */
export async function callCi<Answer>(
  log: Log,
  request: Request | ProjectRequest,
  call: () => Promise<Answer>,
): Promise<CallResult<Answer>> {
  const { id, action, requestedBy: by } = request
  const about = isProjectRequest(request)
    ? { project: request.project }
    : { project: request.projectId, build: request.buildId }
  const fields = { request: id, action, ...about, by }
  try {
    const answer = await call()
    log.info(fields, 'CI accepted the request')
    return { kind: 'answered', answer }
  } catch (error) {
    const isRefused = certainlyUndone(error)
    log.warn(
      { ...fields, err: error },
      isRefused ? 'CI refused the request' : 'unclear whether CI accepted the request',
    )
    // A bug in Buildline may have thrown after the call was sent.
    return { kind: isRefused ? 'refused' : 'unclear', ...causeOf(error) }
  }
}

/** Records what happened to a request. @returns whether that changed it: not if it has ended meanwhile, for example */
export async function recordEvent(
  tx: Tx,
  request: RequestRecord,
  event: RequestEvent,
  { at, ...also }: { at: number } & RequestChange,
): Promise<boolean> {
  const current = await tx.requestOf(request.interactionKey)
  if (!current) return false
  // The look is outdated: the request was in another state when it began.
  const isLook = event.kind === 'not-shown' || event.kind === 'look-later'
  if (isLook && current.state !== request.state) return false
  const change = afterEvent(current, event, at)
  if (change) await tx.updateRequest(request.id, { ...change, ...also })
  return change !== null
}

/** Records what happened to a request about a project. If the store fails, the job ends the request later, as it does after a crash. */
export async function end(
  { store, clock, log }: Pick<RequestDeps, 'store' | 'clock' | 'log'>,
  request: ProjectRequest,
  event: RequestEvent,
  also: RequestChange = {},
): Promise<void> {
  const { id, action, project, requestedBy: by } = request
  const code = 'code' in event ? event.code : null
  log.info({ request: id, action, project, by, event: event.kind, code }, 'a write to CI')
  try {
    await store.write((tx) => recordEvent(tx, request, event, { at: clock.now(), ...also }))
  } catch (error) {
    log.error({ err: error, request: id }, 'the end of a request could not be recorded; it is looked up later')
  }
}

/** After an unclear call, the wait before each look at CI. */
const LOOK_AFTER_MS = [0, 2_000, 5_000] as const

/** After these looks, the job looks at CI at this interval. */
export const LOOK_LATER_MS = 10_000

/** CI's clock may be this far behind ours (ms). */
export const CI_CLOCK_OFF_MS = 60_000

/** The result of a look at CI for a write with an unknown outcome. */
export type LookUpResult<Done> = { kind: 'shown'; done: Done } | { kind: 'not-shown' | 'away' }

/** Looks at CI until it shows the requested change, or LOOK_AFTER_MS is used up. Never sends the write again. */
export async function retryLookUp<Done>(
  { clock }: Pick<RequestDeps, 'clock'>,
  look: () => Promise<LookUpResult<Done>>,
): Promise<LookUpResult<Done>> {
  let seen: LookUpResult<Done> = { kind: 'away' }
  for (const ms of LOOK_AFTER_MS) {
    if (ms > 0) await clock.sleep(ms)
    seen = await look()
    if (seen.kind === 'shown') break
  }
  return seen
}

/** The most requests that one round looks up. */
export const REQUESTS_CHECKED_MAX = 20

/**
 * Looks up the requests that are due: those left by a process that died during its call to CI, and those that are
 * unclear or not confirmed yet. It only reads CI and never repeats a call. A look-up that fails is tried again in a
 * later round.
 */
export async function checkDueRequests<One extends RequestRecord>(
  deps: Pick<RequestDeps, 'store' | 'clock' | 'log' | 'processId'>,
  due: (until: number, limit: number) => Promise<readonly One[]>,
  check: (request: One) => Promise<void>,
): Promise<void> {
  const { store, clock, log, processId } = deps
  const now = clock.now()
  const isDead = (request: One): boolean =>
    request.state === 'calling' && !store.shared && request.claimedBy !== processId
  // On SQLite there is no other process, so a call that another process claimed has died with that process.
  const requests = await due(store.shared ? now : now + CALLING_MAX_MS, REQUESTS_CHECKED_MAX)
  for (const request of requests.filter((one) => (one.lookAt ?? 0) <= now || isDead(one))) {
    try {
      await check(request)
    } catch (error) {
      log.warn({ err: error, request: request.id }, 'a request could not be looked up; it is tried again')
    }
  }
}
