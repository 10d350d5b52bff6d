import {
  refusalOf,
  type BuildSummary,
  type Requester,
  type Target,
  type CiFailure,
  type NotFound,
  type Refused,
} from '../../projects/outcomes.ts'
import {
  GATES_OF,
  isOfGate,
  isOpen,
  restartRequests,
  shownBy,
  type Action,
  type Request,
  type RequestRecord,
  type AttemptRef,
  type RequestState,
} from '../../domain/cards/request.ts'
import { foldBuild, type Attempt } from '../../domain/builds/attempt.ts'
import type { BuildEvent } from '../../domain/builds/build-event.ts'
import { cardNumberOf } from '../../domain/builds/revision.ts'
import { readCapabilities, readRevision, type Revision } from '../../store/revision.ts'
import type { Tx } from '../../store/store.ts'
import { ACTING } from './acting.ts'
import { callForBuild, refreshBuild, type ActDeps, type CallOutcome, type Ready } from './call-once.ts'
import { confirmTarget, type ShownAs } from './confirm-target.ts'
import { NotAttempted } from '../../store/not-attempted.ts'
import { findBuild, summaryOf } from '../../projects/find-build.ts'
import { beforeRecord, earlierRequest, newRecord } from '../../projects/requests.ts'
import type { MissingCapability } from '../../domain/cards/capabilities.ts'

/** How a request to stop or restart ended. */
export type ActionOutcome =
  | CallOutcome
  /** an earlier request for the same is still open */
  | { kind: 'asked-already'; action: Action; build: BuildSummary; by: string; at: number; state: RequestState }
  /** Slack sent this request before, and it was answered then */
  | { kind: 'repeated'; action: Action; state: RequestState }
  /** the action does not fit the build's state: it has ended already, or still runs */
  | { kind: 'not-now'; action: Action; build: BuildSummary }
  | { kind: 'impossible'; action: Action; why: MissingCapability; build: BuildSummary }
  /** CI does not list this build for that project and branch */
  | { kind: 'not-confirmed'; action: Action; build: BuildSummary; shown: ShownAs | null }
  /** CI cannot confirm which build that is: the person has to press the button, whose dialog names the build */
  | { kind: 'to-confirm'; action: Action; build: BuildSummary }
  | CiFailure
  | NotFound
  | Refused

/**
 * Asks a build's source to act on it: to stop it (of the CI service: interface, E1), to run it again (E9, only of a Basic
 * project), or to let it through a gate. Checks permission and the build's current state, records the request, calls CI once and records the outcome. A repeated
 * request, a second person or a crash after the record never causes a second call for the same attempt.
 * Throws NotAttempted if it fails before CI is called.
 */
export async function act(deps: ActDeps, asked: Asked, target: Target, by: Requester): Promise<ActionOutcome> {
  const ready = await beforeRecord(makeReady(deps, asked, target, by))
  return ready.kind === 'ready' ? callForBuild(deps, ready) : ready
}

export interface Asked {
  action: Action
  /** the id of the gate that it is about, and what the person says to it; left out: it is about the whole build */
  about?: { gate: string; comment: string }
}

async function makeReady(
  deps: ActDeps,
  { action, about: asked }: Asked,
  target: Target,
  by: Requester,
): Promise<Ready | ActionOutcome> {
  const refused = await refusalOf(deps.permits, ACTING[action].right, by, action)
  if (refused) return refused
  const repeated = await deps.store.read.requestOf(by.interactionKey)
  if (repeated) return { kind: 'repeated', action, state: repeated.state }
  const result = await findBuild(deps, target, ACTING[action].finds)
  if (result.kind !== 'found') return result
  const { found } = result
  const build = await summaryOf(deps, found)
  const about: AttemptRef = target.kind === 'run' ? { ...build.ref, attempt: target.ref.attempt } : build.ref
  const earlier = earlierRequestFor(action, about, found)
  if (earlier) return alreadyRequested(action, earlier, build, by)
  // A button of an earlier attempt is about that attempt, which has ended; it must not touch the one that runs now.
  const isNewest = about.attempt === build.ref.attempt
  if (isNewest && build.missing?.action === action) return { kind: 'impossible', ...build.missing, build }
  if (!isNewest || !build.offers.includes(action)) return { kind: 'not-now', action, build }
  const confirmed = await confirmTarget(deps, action, found)
  if (confirmed.kind === 'ci-trouble') return confirmed
  if (confirmed.kind !== 'confirmed') return { ...confirmed, action, build }
  const { actedOn, isConfirmed, gates } = confirmed
  if (!isConfirmed && by.via !== 'button' && by.via !== 'modal') return { kind: 'to-confirm', action, build }
  const { branch } = build
  const gate =
    isOfGate(action) &&
    gates.find(({ id, kind, isOurs }) => id === asked?.gate && isOurs && GATES_OF[action].includes(kind))
  if (gate === undefined) {
    await refreshBuild(deps, { ...build.ref, revisionKey: found.revisionKey, target: { branch } })
    return { kind: 'not-now', action, build }
  }
  const { project, projectUuid, buildUuid } = actedOn
  const request: Request = {
    ...newRecord(deps, by),
    action,
    ...build.ref,
    revisionKey: found.revisionKey,
    subject: found.subject,
    target: {
      project,
      branch,
      projectUuid,
      buildUuid,
      ...(gate && { gate: { kind: gate.kind, id: gate.id, name: gate.name } }),
    },
    newBuildId: null,
    newBuildUuid: null,
  }
  const decision =
    gate && isOfGate(action)
      ? { action, gate, comment: commentOf(request, await deps.nameOf(by.user), asked!.comment) }
      : undefined
  const recorded = await deps.store.write((tx) => record(tx, deps, request))
  if (recorded === 'changed') return { kind: 'not-now', action, build }
  return recorded === 'recorded'
    ? { kind: 'ready', request, actedOn, decision, build }
    : alreadyRequested(action, recorded, build, by)
}

/** What the source is told: it knows only the owner of our token. The id shows the request in the source's list of decisions. */
function commentOf({ action, id }: Request, name: string | null, words: string): string {
  const who = name === null ? '' : ` by ${name}`
  return `${action === 'reject' ? 'Rejected' : 'Approved'}${who} in Slack${words === '' ? '' : `: ${words}`} (${id})`
}

/** An open request for the same action and attempt, or a restart that is done: an attempt is restarted only once. */
const earlierRequestFor = (action: Action, about: AttemptRef, revision: Revision) =>
  revision.requests.findLast(
    (request) =>
      request.action === action &&
      request.buildId === about.buildId &&
      request.attempt === about.attempt &&
      (isOpen(request) || (action === 'restart' && isDone(request, revision))),
  )

// Each card numbers attempts from 1, so only requests of this card count. A confirmed one always does: the attempt it
// started may be on a later card. An unconfirmed one counts if an attempt shows its result after all.
const isDone = (request: Request, { subject, attempts }: Revision): boolean =>
  request.subject === subject && (request.state === 'confirmed' || shownBy(request, attempts) !== null)

function alreadyRequested(
  action: Action,
  { interactionKey, requestedBy, requestedAt: at, state }: RequestRecord,
  build: BuildSummary,
  by: Requester,
): ActionOutcome {
  // The same request, received again while the first one was being handled.
  if (interactionKey === by.interactionKey) return { kind: 'repeated', action, state }
  return { kind: 'asked-already', action, build, by: requestedBy, at, state }
}

/**
 * Records the request before the call: once per interaction, and at most one open for each attempt and action.
 * @returns an earlier request if there is one; `changed`: the build has changed since
 */
async function record(tx: Tx, deps: ActDeps, request: Request): Promise<'recorded' | 'changed' | RequestRecord> {
  const known = (await earlierRequest(tx, request.interactionKey)) ?? (await tx.openRequest(request, request.action))
  if (known) return known
  const revision = await readRevision(tx, request.revisionKey, cardNumberOf(request.subject))
  const earlier = earlierRequestFor(request.action, request, revision)
  if (earlier) return earlier
  const events = await eventsNow(tx, request, revision)
  const attempt = await newestOf(tx, request, events)
  if (attempt?.n !== request.attempt) return 'changed'
  const { offers } = await readCapabilities(tx, attempt, revision, deps.configured)
  if (!offers.includes(request.action)) return 'changed'
  await refuseIfChanged(tx, request, attempt, events)
  await tx.insertRequest(request)
  await tx.wakeRevision(request.revisionKey, request.requestedAt, 0)
  return 'recorded'
}

// Includes events that are not on a card yet: the build may have been restarted or may have ended.
async function eventsNow(tx: Tx, { projectId, buildId }: Request, { buildEvents }: Revision): Promise<BuildEvent[]> {
  const fresh = (await tx.eventsOfBuild(projectId, buildId)).filter(({ cardNumber }) => cardNumber === null)
  return [...buildEvents.filter((buildEvent) => buildEvent.buildId === buildId), ...fresh]
}

const newestOf = async (tx: Tx, { projectId, buildId }: Request, events: readonly BuildEvent[]) =>
  foldBuild(events, restartRequests(await tx.restartsOf(projectId, buildId))).attempts.at(-1)

/** Throws NotAttempted if a dead process has left the request, and its build has changed since the person saw it. */
async function refuseIfChanged(tx: Tx, request: Request, now: Attempt, events: readonly BuildEvent[]): Promise<void> {
  const late = (await tx.interactionsOf(request.interactionKey)).find(({ state }) => state === 'late')
  if (!late) return
  const then = await newestOf(
    tx,
    request,
    events.filter(({ at }) => at <= late.receivedAt),
  )
  if (then?.n !== now.n || then.status !== now.status) throw new NotAttempted('the build has changed since')
}
