import { isDeepStrictEqual } from 'node:util'
import {
  isFinalEvent,
  mergeDetails,
  toBuildEvent,
  withCredibleTimes,
  type BuildEvent,
  type ReceivedEvent,
  type Origin,
  type Recorded,
  revisionKey,
} from '../../domain/builds/build-event.ts'
import { isOfPastAttempt, numbered } from '../../sources/attempt-number.ts'
import { isUuid, sourceOf, type BuildId, type ProjectId, type SourceName, type Uuid } from '../../domain/ids.ts'
import { restartRequests } from '../../domain/cards/request.ts'
import { effectsOf } from '../../domain/builds/attempt.ts'
import { isRed, isFinal, toStatus } from '../../domain/builds/status.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Delivery } from '../../sources/endpoint.ts'
import { isSameProject } from '../../ci-sync/reading.ts'
import { knowsDefaultBranch } from '../../sources/project.ts'
import type { KnownProject } from '../../store/records.ts'
import type { Store, Tx } from '../../store/store.ts'

/**
 * A build has about three build events. One that keeps sending new status words would make its card grow without bound:
 * after this many, its build events are only counted, until one ends the build.
 */
export const UNENDED_EVENTS_MAX = 200

/** A sender repeats a delivery without an answer. An equal delivery that comes later than this is news. */
const REPETITION_MAX_MS = 60 * 60_000

export interface RecordDelivery {
  store: Pick<Store, 'write'>
  clock: Clock
  /** Whether a source can be asked for its projects. If left out: none can. */
  isReadable?: (source: SourceName) => boolean
}

/**
 * Stores a delivery and its build event, durably, and returns whether it is new or a duplicate. Resolves when it is on
 * disk. If it rejects, nothing is stored. A duplicate is only counted, on the build event that it repeats: by its key,
 * else by what it says.
 */
export async function recordDelivery(deps: RecordDelivery, delivery: Delivery): Promise<Recorded> {
  return deps.store.write((tx) => record(tx, deps, delivery, deps.clock.now()))
}

/**
 * Stores a build that a source showed when asked, as if it had been delivered, unless it is known. With the origin
 * `history` it is stored, but no message is sent.
 * @returns whether it was new
 */
export async function recordLookedUp(
  { store, clock }: RecordDelivery,
  { event: received, project }: Omit<Delivery, 'body'>,
  origin: 'delivery' | 'history',
): Promise<boolean> {
  const at = clock.now()
  const news = await store.write(async (tx) => {
    if (project) await tx.saveProject({ ...project, readAt: at })
    const known = await tx.eventsOfBuild(received.projectId, received.buildId)
    if (await isOfOtherName(tx, received, known)) return null
    const event = numbered(withCredible(received, at), known)
    const effect = effectsOf([...known, toBuildEvent(event, Number.MAX_SAFE_INTEGER, at, origin)]).at(-1)!
    const isSaid = known.at(-1)?.origin !== 'action' && (effect === 'late' || effect === 'duplicate')
    return isSaid && !knowsMore(event, known) ? null : insert(tx, { event, known, at, origin })
  })
  return news !== null
}

/**
 * A delivery may have assigned the build to another project, and so to a card that other people see: what its own
 * project shows must not appear there. A project that was renamed meanwhile is the same project.
 */
async function isOfOtherName(
  tx: Tx,
  { projectId, details: { projectFullName: read } }: ReceivedEvent,
  known: readonly BuildEvent[],
): Promise<boolean> {
  const called = mergeDetails(known).projectFullName
  if (!read || !called || called.toLowerCase() === read.toLowerCase()) return false
  const renamed = await tx.renamed([called])
  return !renamed.some(
    ({ name, id }) => name.toLowerCase() === read.toLowerCase() && sourceOf(id) === sourceOf(projectId),
  )
}

async function record(
  tx: Tx,
  deps: RecordDelivery,
  { event: delivered, body, project, key }: Delivery,
  at: number,
): Promise<Recorded> {
  // Even if other events came since: the attempt may have ended, and others may have followed.
  const before = key === undefined ? null : await tx.deliveredBefore(key)
  if (before) return countRepetition(tx, before)
  if (project) await keepDelivered(tx, deps, project)
  const credible = withCredible(delivered, at)
  const { projectId, buildId, details } = credible
  // A build that CI first named by its number and now delivers by its uuid keeps the number as its id.
  const id = isUuid(buildId) ? await knownId(tx, { projectId, buildId, uuid: details.buildUuid }) : buildId
  const received = { ...credible, buildId: id }
  const known = await tx.eventsOfBuild(received.projectId, received.buildId)
  const event = numbered(received, known)
  const unanswered = known.find((buildEvent) => isRepetitionOf(buildEvent, event, at))
  if (unanswered) return countRepetition(tx, unanswered)
  const isOnlyCounted = isEndless(known, event)
  const answer = isOnlyCounted || (await isRepeated(tx, event, known, at)) ? 'duplicate' : 'recorded'
  if (isOnlyCounted || (answer === 'duplicate' && !knowsMore(event, known)))
    return countRepetition(tx, repeatedOf(known, event))
  const inserted = await insert(tx, { event, known, at, origin: 'delivery' })
  await tx.insertDelivery({ receivedAt: at, answer, eventSeq: inserted.eventSeq, body, key: key ?? null })
  return { answer, ...inserted }
}

/**
 * Stores a project as a delivery describes it. A delivery may be forged, so the source is asked about a new project, and
 * a known one keeps its name and default branch until its source confirms the new ones. Where the source cannot be
 * asked, nothing can be written to it either, and the newest delivery counts.
 */
async function keepDelivered(tx: Tx, { isReadable }: RecordDelivery, delivered: KnownProject): Promise<void> {
  const stored = await tx.project({ uuid: delivered.uuid, legacyId: delivered.legacyId ?? '', names: [] })
  const project = stored && !knowsDefaultBranch(delivered) ? { ...delivered, rules: stored.rules } : delivered
  if (stored && isSameProject(stored, project)) return
  if (!stored) await tx.addProject(project)
  if (isReadable?.(sourceOf(project.legacyId))) await tx.claimProject(project.uuid, project)
  else if (stored) await tx.saveProject({ ...project, readAt: 0 })
}

const withCredible = (event: ReceivedEvent, at: number): ReceivedEvent => ({
  ...event,
  details: withCredibleTimes(event.details, at),
})

/** The id under which a build is stored. */
export async function knownId(
  tx: Tx,
  { projectId, buildId, uuid }: { projectId: ProjectId; buildId: BuildId; uuid: Uuid | null },
): Promise<BuildId> {
  if (uuid === null || (await tx.eventsOfBuild(projectId, buildId)).length > 0) return buildId
  const known = await tx.buildByUuid(uuid)
  return known?.projectId === projectId ? known.buildId : buildId
}

async function insert(
  tx: Tx,
  {
    event: received,
    known,
    at,
    origin,
  }: { event: ReceivedEvent; known: readonly BuildEvent[]; at: number; origin: Origin },
): Promise<{ eventSeq: number; revisionKey: string }> {
  // Build events of one build stay together even where some leave out the branch or the commit, or no longer name the
  // pull request: GitHub lists only open ones.
  const branch = known.find((buildEvent) => buildEvent.branch !== null)?.branch ?? received.branch
  const commitId = received.commitId ?? known.findLast((buildEvent) => buildEvent.commitId !== null)?.commitId ?? null
  const event = { ...received, branch, commitId }
  const key = known[0]?.revisionKey ?? revisionKey(event)
  const eventSeq = await tx.insertBuildEvent(event, {
    at,
    origin,
    priority: urgencyOf(event.rawStatus),
    isOfPastAttempt: isOfPastAttempt(event, known),
    revisionKey: key,
  })
  return { eventSeq, revisionKey: key }
}

/**
 * Whether this repeats a delivery that got no answer. It may come after the build has ended, and is not a restart
 * (decision 16). A delivery with a different detail, such as the start time, is not a repetition.
 */
const isRepetitionOf = (earlier: BuildEvent, event: ReceivedEvent, at: number): boolean =>
  !earlier.isAcknowledged &&
  earlier.rawStatus === event.rawStatus &&
  at - earlier.at <= REPETITION_MAX_MS &&
  JSON.stringify(earlier.details) === JSON.stringify(withCredibleTimes(event.details, earlier.at))

/** The build event that a duplicate repeats; the newest if CI used another word for the same status. */
const repeatedOf = (known: readonly BuildEvent[], { rawStatus }: ReceivedEvent): BuildEvent =>
  known.findLast((one) => one.rawStatus === rawStatus) ?? known.at(-1)!

// Its body is not stored, since a sender may repeat a delivery without limit.
async function countRepetition(
  tx: Tx,
  { seq: eventSeq, revisionKey: key }: Pick<BuildEvent, 'seq' | 'revisionKey'>,
): Promise<Recorded> {
  await tx.countRepeat(eventSeq)
  return { answer: 'duplicate', eventSeq, revisionKey: key }
}

const isEndless = (known: readonly BuildEvent[], { rawStatus }: ReceivedEvent): boolean =>
  known.length >= UNENDED_EVENTS_MAX && !isFinal(toStatus(rawStatus)) && !known.some(isFinalEvent)

async function isRepeated(tx: Tx, event: ReceivedEvent, known: readonly BuildEvent[], at: number): Promise<boolean> {
  // The newest event is our own action, which CI has not reported yet: this delivery is CI's first report of it.
  if (known.length === 0 || known.at(-1)!.origin === 'action') return false
  const buildEvents = [...known, toBuildEvent(event, Number.MAX_SAFE_INTEGER, at)]
  if (effectsOf(buildEvents).at(-1) !== 'duplicate') return false
  // A second "late start" may be the restart that somebody requested.
  const restarts = restartRequests(await tx.restartsOf(event.projectId, event.buildId))
  return restarts.length === 0 || effectsOf(buildEvents, restarts).at(-1) === 'duplicate'
}

// Whether a repetition adds details, such as the uuids that only a build step knows.
function knowsMore(event: ReceivedEvent, known: readonly ReceivedEvent[]): boolean {
  const { details } = event
  // The details of one attempt, such as its failed jobs, are not those of the next.
  const ofAttempt = details.attempt === null ? known : known.filter((one) => one.details.attempt === details.attempt)
  const own = mergeDetails(ofAttempt)
  const said = new Map<string, unknown>(Object.entries(own))
  if (details.end?.isWhole && !own.end?.isWhole) return true
  if (details.gates && !isDeepStrictEqual(details.gates, own.gates)) return true
  return Object.entries(details).some(([name, value]) => value !== null && said.get(name) === null)
}

// Failures first, then what has ended, then what has begun.
function urgencyOf(rawStatus: string): number {
  const status = toStatus(rawStatus)
  return isRed(status) ? 0 : isFinal(status) ? 1 : 2
}
