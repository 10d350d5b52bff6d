import {
  afterEvent,
  CALLING_MAX_MS,
  type ProjectRequest,
  type Request,
  type RequestChange,
  type RequestEvent,
  type RequestRecord,
} from '../domain/request.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { certainlyUndone, CiError } from '../sources/http/errors.ts'
import { isGivenUp, NotAttempted } from '../store/not-attempted.ts'
import type { Store, Tx } from '../store/store.ts'
import { troubleOf, type Requester, type Permits } from './outcomes.ts'
import type { Interfaces } from '../store/history.ts'

/** What every request to CI needs. */
export interface RequestDeps {
  store: Store
  clock: Clock
  log: Log
  newId: () => string
  /** this process, as claims name it */
  processId: string
  interfaces: Interfaces
  permits: Permits
}

/** What every request to CI starts with. */
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
 * The request that this interaction has already made; null: none. Throws NotAttempted when the person was told that the
 * interaction was interrupted: then nothing may be asked of CI for it.
 */
export async function earlierRequest(tx: Tx, interactionKey: string): Promise<Request | ProjectRequest | null> {
  const repeated = await tx.requestOf(interactionKey)
  if (repeated) return repeated
  if (await isGivenUp(tx, interactionKey)) throw new NotAttempted('the person was told that it was interrupted')
  return null
}

/** How the one call to CI ended. */
export type CallResult<Answer> =
  | { kind: 'answered'; answer: Answer }
  /** CI has certainly done nothing */
  | { kind: 'refused'; code: string; reason: string | null }
  /** CI may have done it */
  | { kind: 'unclear'; code: string; reason: string | null }

/** Calls CI, once, for a request that is recorded. @param fields for the log */
export async function callCi<Answer>(
  log: Log,
  fields: object,
  call: () => Promise<Answer>,
): Promise<CallResult<Answer>> {
  try {
    const answer = await call()
    log.info(fields, 'CI took the request')
    return { kind: 'answered', answer }
  } catch (error) {
    const isRefused = certainlyUndone(error)
    log.warn({ ...fields, err: error }, isRefused ? 'CI refused the request' : 'unclear whether CI took the request')
    // Anything but an answer of CI's is our own fault, after the call may have gone out.
    const { code, reason } = error instanceof CiError ? troubleOf(error) : { code: 'fault', reason: null }
    return { kind: isRefused ? 'refused' : 'unclear', code, reason }
  }
}

/** Records what happened to a request. @returns whether that changed it: it may have ended meanwhile */
export async function recordEvent(
  tx: Tx,
  request: RequestRecord,
  event: RequestEvent,
  { at, ...also }: { at: number } & RequestChange,
): Promise<boolean> {
  const stands = await tx.requestOf(request.interactionKey)
  if (!stands) return false
  // CI was read for an earlier state of it.
  const isLook = event.kind === 'not-shown' || event.kind === 'look-later'
  if (isLook && stands.state !== request.state) return false
  const change = afterEvent(stands, event, at)
  if (change) await tx.updateRequest(request.id, { ...change, ...also })
  return change !== null
}

/** How many requests one round looks at. */
export const ROUND_MAX = 20

/**
 * Reads what CI shows of the requests that are due: those that a dead process left while it called CI, and those that are
 * unclear or not confirmed in time. CI is never asked a second time to do anything. One that fails is tried again later.
 */
export async function lookAtDue<One extends RequestRecord>(
  deps: Pick<RequestDeps, 'store' | 'clock' | 'log' | 'processId'>,
  due: (until: number, limit: number) => Promise<readonly One[]>,
  look: (request: One) => Promise<void>,
): Promise<void> {
  const { store, clock, log, processId } = deps
  const now = clock.now()
  const isDead = (request: One): boolean =>
    request.state === 'calling' && !store.shared && request.claimedBy !== processId
  // On SQLite there is no other process: what one was calling died with it.
  const requests = await due(store.shared ? now : now + CALLING_MAX_MS, ROUND_MAX)
  for (const request of requests.filter((one) => (one.lookAt ?? 0) <= now || isDead(one))) {
    try {
      await look(request)
    } catch (error) {
      log.warn({ err: error, request: request.id }, 'a request could not be looked up; it is tried again')
    }
  }
}
