import { isDeepStrictEqual } from 'node:util'
import {
  mergeDetails,
  toBuildEvent,
  type BuildEvent,
  type ReceivedEvent,
  type Origin,
} from '../domain/builds/build-event.ts'
import { compareOrders, idOrder, isUuid } from '../domain/ids.ts'
import { restartRequests, type AttemptRef } from '../domain/cards/request.ts'
import { effectsOf, foldBuild, type Effect, type Attempt, type RestartRequest } from '../domain/builds/attempt.ts'
import { isOfPastAttempt, numbered } from '../sources/attempt-number.ts'
import { isFinal, toStatus } from '../domain/builds/status.ts'
import type { Tx } from '../store/store.ts'

/** The build that CI was asked about, and its revision. */
interface SnapshotFor extends Pick<AttemptRef, 'projectId' | 'buildId'> {
  revisionKey: string
}

/** `begunAgain`: CI shows a later attempt than the one that is known. */
interface Snapshot {
  build: ReceivedEvent
  begunAgain: boolean
  at: number
}

/**
 * Stores a build as CI showed it when asked, as an ordinary build event, unless it is known. Ignores a build of another
 * commit, which CI delivers itself, or of a repository with another name.
 * @returns whether anything was new
 */
export async function insertSnapshot(
  tx: Tx,
  about: SnapshotFor,
  { build, begunAgain, at }: Snapshot,
): Promise<boolean> {
  const known = await tx.eventsOfBuild(about.projectId, build.buildId)
  const ofAbout = build.buildId === about.buildId ? known : await tx.eventsOfBuild(about.projectId, about.buildId)
  const place = known.at(-1) ?? ofAbout.findLast(({ commitId }) => isSameCommit(commitId, build.commitId))
  if (!place || place.revisionKey !== about.revisionKey || isOfOtherName(build, [...known, ...ofAbout])) return false
  const restarts = restartRequests(await tx.restartsOf(about.projectId, build.buildId))
  const statuses = statusesShown(build, begunAgain, foldBuild(known, restarts).attempts.at(-1))
  const observed = statuses.map(({ rawStatus, origin }) => ({
    event: asEvent({ ...build, projectId: about.projectId, rawStatus }, ofAbout, place),
    origin,
  }))
  return insertNews(tx, observed, { known, restarts, at, priority: 0, revisionKey: place.revisionKey })
}

/**
 * A delivery may have assigned the build to another repository, whose card must not show what its own repository says.
 */
function isOfOtherName({ details }: ReceivedEvent, known: readonly BuildEvent[]): boolean {
  const read = details.projectFullName
  const called = mergeDetails(known).projectFullName
  return read && called ? called.toLowerCase() !== read.toLowerCase() : false
}

/** The known state of the build, and where its news is stored. */
interface NewsOf {
  known: readonly BuildEvent[]
  restarts: readonly RestartRequest[]
  at: number
  priority: number
  revisionKey: string
}

/** Stores the observations that are not known already. @returns whether there were any */
export async function insertNews(
  tx: Tx,
  observed: readonly { event: ReceivedEvent; origin: Origin }[],
  { known, restarts, at, priority, revisionKey }: NewsOf,
): Promise<boolean> {
  let buildEvents = known
  for (const { event: shown, origin } of observed) {
    const event = numbered(shown, buildEvents)
    const next = [...buildEvents, toBuildEvent(event, Number.MAX_SAFE_INTEGER, at, origin)]
    if (!isNews(effectsOf(next, restarts).at(-1)!, event, origin, buildEvents)) continue
    const how = { at, origin, priority, isOfPastAttempt: isOfPastAttempt(event, buildEvents) }
    await tx.insertBuildEvent(event, { ...how, revisionKey })
    buildEvents = next
  }
  return buildEvents !== known
}

function statusesShown(
  build: ReceivedEvent,
  begunAgain: boolean,
  known: Attempt | undefined,
): { rawStatus: string; origin: Origin }[] {
  if (namesAttempt(build)) return [{ rawStatus: build.rawStatus, origin: 'poll' }]
  const hasEnded = isFinal(toStatus(build.rawStatus))
  // CI's two interfaces may use different words for one end. If no new attempt began, keep the known word.
  if (!begunAgain)
    return [
      { rawStatus: hasEnded && known && isFinal(known.status) ? known.rawStatus : build.rawStatus, origin: 'poll' },
    ]
  // CI did not show the new attempt's start, so we add one: otherwise the same end would count as a repetition. Its
  // origin is `action`, since CI may still deliver its own start, which must not open another attempt.
  return [
    ...(hasEnded ? [{ rawStatus: 'initiated', origin: 'action' } as const] : []),
    { rawStatus: build.rawStatus, origin: 'poll' },
  ]
}

/** Whether the source tells attempts apart, so that times and words need not be compared. */
export const namesAttempt = ({ details: { attempt, lastEndAt } }: ReceivedEvent): boolean =>
  (attempt ?? lastEndAt) !== null

/** In the order in which CI would have delivered them: by id, or by start if any id is a UUID, which has no order. */
export function oldestFirst(builds: readonly ReceivedEvent[]): ReceivedEvent[] {
  if (builds.some(({ buildId }) => isUuid(buildId)))
    return builds.toSorted((a, b) => (a.details.startedAt ?? NEWEST_MS) - (b.details.startedAt ?? NEWEST_MS))
  return builds.toSorted((a, b) => compareOrders(idOrder(a.buildId), idOrder(b.buildId)))
}

/** A build that has not started yet sorts last. */
const NEWEST_MS = Number.MAX_SAFE_INTEGER

function isNews(
  effect: Effect,
  { details: { gates } }: ReceivedEvent,
  origin: Origin,
  buildEvents: readonly BuildEvent[],
): boolean {
  if (effect === 'opened' || effect === 'moved') return true
  if (gates && !isDeepStrictEqual(gates, mergeDetails(buildEvents).gates)) return true
  // If we know an attempt only by our own `action` event, CI's repetition of it is news: it confirms the attempt.
  return effect === 'duplicate' && origin === 'poll' && buildEvents.at(-1)?.origin === 'action'
}

/** One may be the short form of the other. False if either is null. */
export function isSameCommit(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return false
  const [short, long] = [one.toLowerCase(), other.toLowerCase()].sort((a, b) => a.length - b.length)
  return short!.length >= COMMIT_CHARS_MIN && long!.startsWith(short!)
}

/** Shorter forms are ambiguous. */
const COMMIT_CHARS_MIN = 7

/** A shown build as a build event of its card. What is known of its project, commit and committer stays. */
export function asEvent(
  build: ReceivedEvent,
  buildEvents: readonly BuildEvent[],
  place: Pick<BuildEvent, 'branch' | 'commitId'>,
): ReceivedEvent {
  const { details } = build
  const known = mergeDetails(buildEvents)
  return {
    ...build,
    branch: place.branch ?? build.branch,
    commitId: place.commitId ?? build.commitId,
    details: {
      ...details,
      // If the build gets its own card, no other event there names the project.
      projectName: known.projectName,
      projectFullName: known.projectFullName ?? details.projectFullName,
      projectUuid: known.projectUuid,
      // The legacy interface formats messages and committers differently, so keep the delivered ones.
      message: known.message === null ? details.message : null,
      committer: known.committer === null ? details.committer : null,
      finishedAt: ['started', 'waiting'].includes(toStatus(build.rawStatus)) ? null : details.finishedAt,
      // `read-ends` reads the jobs after the end, with who opened the pull or merge request.
      end: null,
    },
  }
}
