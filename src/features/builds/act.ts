import type { ActOutcome, Requester, Target, BuildSummary } from '../../catalog/outcomes.ts'
import type { ActDeps, CiCall, Ids } from './deps.ts'
import type { ProjectId } from '../../domain/ids.ts'
import { offerOf, type Offer } from '../../domain/offer.ts'
import {
  isOpen,
  restartRequests,
  shownBy,
  type Action,
  type Request,
  type RequestRecord,
  type RequestTarget,
  type AttemptRef,
} from '../../domain/request.ts'
import { foldBuild, type Attempt } from '../../domain/attempt.ts'
import { parseSubject } from '../../domain/revision.ts'
import { buildView } from '../../domain/build-view.ts'
import { isMissing } from '../../domain/story.ts'
import { facilitiesOf, readRevision, type Revision } from '../../store/history.ts'
import type { Tx } from '../../store/store.ts'
import { callOnce } from './call-once.ts'
import { confirmTarget } from './confirm-target.ts'
import { findBuild, summaryOf, type FindDeps, type Found } from '../../catalog/find-build.ts'
import { NotAttempted } from '../../store/not-attempted.ts'
import { earlierRequest, newRecord } from '../../catalog/requests.ts'

/** Asks CI to run a finished build of a Basic project again (interface, E9). At most once per attempt; see `act`. */
export const restartBuild = (deps: ActDeps, target: Target, by: Requester): Promise<ActOutcome> =>
  act(
    deps,
    {
      action: 'restart',
      call: (source, ref, ids) => source.restart!({ ...ref, ...ids }),
    },
    target,
    by,
  )

/** Asks CI to stop a running build (interface, E1). At most once per attempt; see `act`. */
export const stopBuild = (deps: ActDeps, target: Target, by: Requester): Promise<ActOutcome> =>
  act(
    deps,
    {
      action: 'stop',
      async call(source, ref, ids) {
        await source.stop!({ ...ref, ...ids })
        return { newBuildId: null, newBuildUuid: null }
      },
    },
    target,
    by,
  )

/**
 * Checks permission and the build's current state, records the request, calls CI once and records the outcome.
 * A repeated request, a second person or a crash after the record never causes a second call for the same attempt.
 * Throws NotAttempted if it fails before CI is called.
 */
async function act(deps: ActDeps, ciCall: CiCall, target: Target, by: Requester): Promise<ActOutcome> {
  const ready = await makeReady(deps, ciCall, target, by).catch((error: unknown) => {
    throw error instanceof NotAttempted ? error : new NotAttempted('it failed before that', error)
  })
  if (ready.kind !== 'ready') return ready
  const { request, ids, build } = ready
  deps.wake(request.revisionKey)
  return { ...(await callOnce(deps, ciCall, request, ids)), build }
}

/** A recorded request. The caller has to call CI for it, once. */
interface Ready {
  kind: 'ready'
  request: Request
  ids: Ids
  build: BuildSummary
}

async function makeReady(deps: ActDeps, ciCall: CiCall, target: Target, by: Requester): Promise<Ready | ActOutcome> {
  const { action } = ciCall
  const refusal = await refusalOf(deps, action, by)
  if (refusal) return refusal
  const find: FindDeps = { reads: deps.store.read, interfaces: deps.interfaces, clock: deps.clock }
  const looked = await findBuild(find, target, action === 'stop' ? 'running' : 'newest')
  if (looked.kind !== 'found') return looked
  const { found } = looked
  const build = await summaryOf(find, found)
  const about: AttemptRef = { ...build.ref, attempt: target.kind === 'run' ? target.ref.attempt : found.attempt.n }
  const earlier = askedBefore(action, about, found)
  if (earlier) return alreadyRequested(action, earlier, build, by)
  const offer = await offerNow(deps, action, about, found)
  if (offer !== 'offered') return notOffered(action, offer, build)
  const ids = await confirmTarget(deps, action, found)
  if (ids.kind === 'ci-trouble') return ids
  if (ids.kind === 'impossible') return notOffered(action, ids.offer, build)
  if (ids.kind === 'not-confirmed') return { kind: 'not-confirmed', action, build }
  if (!ids.isConfirmed && by.via !== 'button' && by.via !== 'modal') return { kind: 'to-confirm', action, build }
  return recordAsked(deps, { kind: 'ready', request: newRequest(deps, action, found, ids, by), ids, build }, by)
}

async function refusalOf(deps: ActDeps, action: Action, by: Requester): Promise<ActOutcome | null> {
  const permit = await deps.permits('operate', by)
  if (permit.kind === 'unknown-person') return permit
  if (permit.kind === 'no') return { kind: 'forbidden', action, permit }
  const repeated = await deps.store.read.requestOf(by.interactionKey)
  return repeated && { kind: 'repeated', action, state: repeated.state }
}

async function offerNow(
  { store, interfaces }: ActDeps,
  action: Action,
  about: AttemptRef,
  found: Found,
): Promise<Offer> {
  // A button of an earlier attempt is about that attempt, which has ended; it must not touch the one that runs now.
  if (about.attempt !== found.attempt.n) return 'not-now'
  return offerOf(action)(found.attempt, await facilitiesOf(store.read, found.attempts, interfaces), found.requests)
}

const notOffered = (action: Action, offer: Offer, build: BuildSummary): ActOutcome =>
  isMissing(offer) ? { kind: 'impossible', action, why: offer, build } : { kind: 'not-now', action, build }

async function recordAsked(deps: ActDeps, ready: Ready, by: Requester): Promise<Ready | ActOutcome> {
  const { request, build } = ready
  const recorded = await deps.store.write((tx) => record(tx, deps, request))
  switch (recorded.kind) {
    case 'earlier':
      return alreadyRequested(request.action, recorded.request, build, by)
    case 'changed':
      return { kind: 'not-now', action: request.action, build }
    case 'recorded':
      return ready
  }
}

/** An open request for the same action and attempt, or a restart that is done: an attempt is restarted only once. */
const askedBefore = (action: Action, about: AttemptRef, revision: Revision) =>
  revision.requests.findLast(
    (request) =>
      request.action === action &&
      request.buildId === about.buildId &&
      request.attempt === about.attempt &&
      (isOpen(request) || (action === 'restart' && isDone(request, revision))),
  )

// Each card numbers attempts from 1, so only requests of this card count. A confirmed one always does: the attempt it
// started may be on a later card. An unconfirmed one does if an attempt shows it after all.
const isDone = (request: Request, { subject, attempts }: Revision): boolean =>
  request.subject === subject && (request.state === 'confirmed' || shownBy(request, attempts) !== null)

function alreadyRequested(
  action: Action,
  { interactionKey, requestedBy, requestedAt: at, state }: RequestRecord,
  build: BuildSummary,
  by: Requester,
): ActOutcome {
  // The same request, received again while the first one was being handled.
  if (interactionKey === by.interactionKey) return { kind: 'repeated', action, state }
  return { kind: 'asked-already', action, build, by: requestedBy, at, state }
}

function newRequest(
  deps: ActDeps,
  action: Action,
  { attempt, attempts, subject, revisionKey }: Found,
  ids: Ids,
  by: Requester,
) {
  const { project, branch } = buildView(attempt, attempts)
  const { projectUuid, buildUuid } = ids
  const target: RequestTarget = { project, branch, projectUuid, buildUuid }
  const request: Request = {
    ...newRecord(deps, by),
    action,
    projectId: projectIdOf(attempt),
    buildId: attempt.buildId,
    attempt: attempt.n,
    revisionKey,
    subject,
    target,
    newBuildId: null,
    newBuildUuid: null,
  }
  return request
}

const projectIdOf = (attempt: Attempt): ProjectId => attempt.buildEvents[0]!.projectId

type Recorded = { kind: 'recorded' | 'changed' } | { kind: 'earlier'; request: RequestRecord }

/** Records the request before the call: once per interaction, and at most one open for each attempt and action. */
async function record(tx: Tx, { interfaces }: ActDeps, request: Request): Promise<Recorded> {
  const known = (await earlierRequest(tx, request.interactionKey)) ?? (await tx.openRequest(request, request.action))
  if (known) return { kind: 'earlier', request: known }
  const parsed = parseSubject(request.subject)
  if (parsed.kind !== 'revision') return { kind: 'changed' }
  const revision = await readRevision(tx, parsed.revisionKey, parsed.cardNumber)
  const { attempts, requests } = revision
  const earlier = askedBefore(request.action, request, revision)
  if (earlier) return { kind: 'earlier', request: earlier }
  const attempt = await runNow(tx, request, revision)
  if (attempt?.n !== request.attempt) return { kind: 'changed' }
  if (offerOf(request.action)(attempt, await facilitiesOf(tx, attempts, interfaces), requests) !== 'offered')
    return { kind: 'changed' }
  await tx.insertRequest(request)
  await tx.wakeRevision(request.revisionKey, request.requestedAt, 0)
  return { kind: 'recorded' }
}

// Includes events that are not on a card yet: the build may have been restarted or may have ended.
async function runNow(
  tx: Tx,
  { projectId, buildId }: Request,
  { buildEvents }: Revision,
): Promise<Attempt | undefined> {
  const fresh = (await tx.eventsOfBuild(projectId, buildId)).filter(({ cardNumber }) => cardNumber === null)
  const known = buildEvents.filter((buildEvent) => buildEvent.buildId === buildId)
  return foldBuild([...known, ...fresh], restartRequests(await tx.restartsOf(projectId, buildId))).attempts.at(-1)
}
