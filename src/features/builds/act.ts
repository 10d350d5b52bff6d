import type { ProjectId } from '../../domain/ids.ts'
import { offerOf, type Offer } from '../../domain/offer.ts'
import {
  isOpen,
  restartsAsked,
  shownBy,
  type Action,
  type Request,
  type RequestTarget,
  type RunRef,
} from '../../domain/request.ts'
import { foldBuild, type Run } from '../../domain/run.ts'
import { parseSubject } from '../../domain/subject.ts'
import { buildView, isMissing } from '../../domain/view.ts'
import { facilitiesOf, readRevision, type Revision } from '../../store/history.ts'
import type { Tx } from '../../store/store.ts'
import type { ActOutcome, Asker, BuildSummary, Target } from '../../catalog/outcomes.ts'
import { callOnce } from './call-once.ts'
import { confirmTarget } from './confirm-target.ts'
import type { ActDeps, Deed, Ids } from './deed.ts'
import { findBuild, summaryOf, type FindDeps, type Found } from '../../catalog/find-build.ts'
import { isGivenUp, NotAttempted } from '../../store/not-attempted.ts'

export type { ActDeps }

/** Whoever calls CI has its answer by then, or is dead. */
export const CALLING_MAX_MS = 90_000

/**
 * Acts on CI at most once: checks who asks and what is so now, records the request, calls CI one time, records how that
 * ended. The same ask twice, two people, or a crash between record and answer never make a second call for one run.
 * Throws NotAttempted where it fails before CI is called.
 */
export async function act(deps: ActDeps, deed: Deed, target: Target, by: Asker): Promise<ActOutcome> {
  const ready = await makeReady(deps, deed, target, by).catch((error: unknown) => {
    throw new NotAttempted('it failed before that', error)
  })
  if (ready.kind !== 'ready') return ready
  const { request, ids, build } = ready
  deps.wake(request.revisionKey)
  return { ...(await callOnce(deps, deed, request, ids)), build }
}

/** A request that is recorded: CI is to be called for it, once. */
interface Ready {
  kind: 'ready'
  request: Request
  ids: Ids
  build: BuildSummary
}

async function makeReady(deps: ActDeps, deed: Deed, target: Target, by: Asker): Promise<Ready | ActOutcome> {
  const { action } = deed
  const refusal = await refusalOf(deps, action, by)
  if (refusal) return refusal
  const find: FindDeps = { reads: deps.store.read, interfaces: deps.interfaces }
  const looked = await findBuild(find, target, action === 'stop' ? 'running' : 'newest')
  if (looked.kind !== 'found') return looked
  const { found } = looked
  const build = await summaryOf(find, found)
  const about: RunRef = { ...build.ref, run: target.kind === 'run' ? target.ref.run : found.run.n }
  const earlier = askedBefore(action, about, found)
  if (earlier) return askedAlready(earlier, build, by)
  const offer = await offerNow(deps, action, about, found)
  if (offer !== 'offered') return notOffered(action, offer, build)
  const ids = await confirmTarget(deps, action, found)
  if (ids.kind === 'ci-trouble') return ids
  if (ids.kind === 'impossible') return notOffered(action, ids.offer, build)
  if (ids.kind === 'not-confirmed') return { kind: 'not-confirmed', action, build }
  if (!ids.isConfirmed && by.via !== 'button' && by.via !== 'modal') return { kind: 'to-confirm', action, build }
  return recordAsked(deps, { kind: 'ready', request: newRequest(deps, action, found, ids, by), ids, build }, by)
}

async function refusalOf(deps: ActDeps, action: Action, by: Asker): Promise<ActOutcome | null> {
  const permit = await deps.permits('operate', by)
  if (permit.kind === 'unknown-person') return permit
  if (permit.kind === 'no') return { kind: 'forbidden', action, permit }
  const repeated = await deps.store.read.requestOf(by.askKey)
  return repeated && { kind: 'repeated', action, state: repeated.state }
}

async function offerNow({ store, interfaces }: ActDeps, action: Action, about: RunRef, found: Found): Promise<Offer> {
  // A button of an earlier run is about that run, which has ended; it must not touch the one that runs now.
  if (about.run !== found.run.n) return 'not-now'
  return offerOf(action)(found.run, await facilitiesOf(store.read, found.runs, interfaces), found.requests)
}

const notOffered = (action: Action, offer: Offer, build: BuildSummary): ActOutcome =>
  isMissing(offer) ? { kind: 'impossible', action, why: offer, build } : { kind: 'not-now', action, build }

async function recordAsked(deps: ActDeps, ready: Ready, by: Asker): Promise<Ready | ActOutcome> {
  const { request, build } = ready
  const recorded = await deps.store.write((tx) => record(tx, deps, request))
  switch (recorded.kind) {
    case 'repeated':
    case 'open':
      return askedAlready(recorded.request, build, by)
    case 'changed':
      return { kind: 'not-now', action: request.action, build }
    case 'given-up':
      throw new NotAttempted('the asker was told that it was interrupted')
    case 'recorded':
      return ready
  }
}

/** What somebody asked of this run that is under way; or, of a restart, that is done: one run is run again once. */
const askedBefore = (action: Action, about: RunRef, revision: Revision) =>
  revision.requests.findLast(
    (request) =>
      request.action === action &&
      request.buildId === about.buildId &&
      request.run === about.run &&
      (isOpen(request) || (action === 'restart' && isDone(request, revision))),
  )

// The run that shows it may be on a later card, where the runs of a build are counted anew; and what CI has not confirmed
// in time may be shown after all.
const isDone = (request: Request, { subject, runs }: Revision): boolean =>
  request.subject === subject && (request.state === 'confirmed' || shownBy(request, runs) !== null)

function askedAlready(
  { action, askKey, askedBy, askedAt: at, state }: Request,
  build: BuildSummary,
  by: Asker,
): ActOutcome {
  // This very ask, heard a second time while the first hearing was under way.
  if (askKey === by.askKey) return { kind: 'repeated', action, state }
  return { kind: 'asked-already', action, build, by: askedBy, at, state }
}

function newRequest(deps: ActDeps, action: Action, { run, runs, subject, revisionKey }: Found, ids: Ids, by: Asker) {
  const { project, branch } = buildView(run, runs)
  const { projectUuid, buildUuid } = ids
  const target: RequestTarget = { project, branch, projectUuid, buildUuid }
  const askedAt = deps.clock.now()
  const request: Request = {
    id: deps.newId(),
    askKey: by.askKey,
    action,
    state: 'calling',
    projectId: projectIdOf(run),
    buildId: run.buildId,
    run: run.n,
    revisionKey,
    subject,
    target,
    askedBy: by.user,
    askedTeam: by.team,
    channel: by.channel,
    via: by.via,
    askedAt,
    claimedBy: deps.processId,
    code: null,
    reason: null,
    answeredAt: null,
    newBuildId: null,
    newBuildUuid: null,
    lookAt: askedAt + CALLING_MAX_MS,
    endedAt: null,
  }
  return request
}

const projectIdOf = (run: Run): ProjectId => run.facts[0]!.projectId

type Recorded = { kind: 'recorded' | 'changed' | 'given-up' } | { kind: 'repeated' | 'open'; request: Request }

/** The record that comes before the call: one for each ask, and one open for each run and action. */
async function record(tx: Tx, { interfaces }: ActDeps, request: Request): Promise<Recorded> {
  const repeated = await tx.requestOf(request.askKey)
  if (repeated) return { kind: 'repeated', request: repeated }
  if (await isGivenUp(tx, request.askKey)) return { kind: 'given-up' }
  const open = await tx.openRequest(request, request.action)
  if (open) return { kind: 'open', request: open }
  const parsed = parseSubject(request.subject)
  if (parsed.kind !== 'revision') return { kind: 'changed' }
  const revision = await readRevision(tx, parsed.revisionKey, parsed.episode)
  const { runs, requests } = revision
  const earlier = askedBefore(request.action, request, revision)
  if (earlier) return { kind: 'open', request: earlier }
  const run = await runNow(tx, request, revision)
  if (run?.n !== request.run) return { kind: 'changed' }
  if (offerOf(request.action)(run, await facilitiesOf(tx, runs, interfaces), requests) !== 'offered')
    return { kind: 'changed' }
  await tx.insertRequest(request)
  await tx.wakeRevision(request.revisionKey, request.askedAt, 0)
  return { kind: 'recorded' }
}

// What was heard of the build and is not on the card yet counts: CI may have begun it again, or it may have ended.
async function runNow(tx: Tx, { projectId, buildId }: Request, { facts }: Revision): Promise<Run | undefined> {
  const fresh = (await tx.factsOfBuild(projectId, buildId)).filter(({ episode }) => episode === null)
  const known = facts.filter((fact) => fact.buildId === buildId)
  return foldBuild([...known, ...fresh], restartsAsked(await tx.restartsOf(projectId, buildId))).runs.at(-1)
}
