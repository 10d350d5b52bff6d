import {
  firstLine,
  mergeDetails,
  NO_DETAILS,
  toBuildEvent,
  type BuildEvent,
  type Observation,
  type Origin,
} from '../domain/build-event.ts'
import { compareOrders, idOrder, isUuid } from '../domain/ids.ts'
import type { LegacyBuild } from '../domain/project.ts'
import { restartRequests, type AttemptRef } from '../domain/request.ts'
import { effectsOf, foldBuild, type Effect, type Attempt, type RestartRequest } from '../domain/attempt.ts'
import { isOfPastAttempt, numbered } from '../domain/attempt-number.ts'
import { isFinal, toStatus } from '../domain/status.ts'
import type { BuildPlace } from '../store/records.ts'
import type { Tx } from '../store/store.ts'

/** What was asked about, and the revision that it belongs to. */
interface SnapshotFor extends Pick<AttemptRef, 'projectId' | 'buildId'> {
  revisionKey: string
}

/** `begunAgain`: what CI shows is another attempt than the one that is known. */
interface Snapshot {
  build: LegacyBuild
  begunAgain: boolean
  at: number
}

/**
 * What CI showed of a build when it was asked becomes a build event like any other; what is known already is not said again. A
 * build of another commit is left to its own deliveries. @returns whether it said anything new
 */
export async function insertSnapshot(
  tx: Tx,
  about: SnapshotFor,
  { build, begunAgain, at }: Snapshot,
): Promise<boolean> {
  const known = await tx.eventsOfBuild(about.projectId, build.id)
  const ofAbout = build.id === about.buildId ? known : await tx.eventsOfBuild(about.projectId, about.buildId)
  const place = known.at(-1) ?? ofAbout.findLast(({ commitId }) => isSameCommit(commitId, build.commitId))
  if (!place || place.revisionKey !== about.revisionKey) return false
  const restarts = restartRequests(await tx.restartsOf(about.projectId, build.id))
  const words = said(build, begunAgain, foldBuild(known, restarts).attempts.at(-1))
  const observed = words.map(({ word, origin }) => ({
    seen: observationOf(about, build, { place, buildEvents: ofAbout }, word),
    origin,
  }))
  return insertNews(tx, observed, { known, restarts, at, priority: 0, revisionKey: place.revisionKey })
}

/** What is known of the build, and where its news is stored. */
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
  observed: readonly { seen: Observation; origin: Origin }[],
  { known, restarts, at, priority, revisionKey }: NewsOf,
): Promise<boolean> {
  let buildEvents = known
  for (const { seen: shown, origin } of observed) {
    const seen = numbered(shown, buildEvents)
    const next = [...buildEvents, toBuildEvent(seen, Number.MAX_SAFE_INTEGER, at, origin)]
    if (!isNews(effectsOf(next, restarts).at(-1)!, origin, buildEvents)) continue
    const { branch, commitId } = seen
    const how = { at, origin, priority, isOfPastAttempt: isOfPastAttempt(seen, buildEvents) }
    await tx.insertBuildEvent(seen, { ...how, revisionKey, branch, commitId })
    buildEvents = next
  }
  return buildEvents !== known
}

function said(build: LegacyBuild, begunAgain: boolean, known: Attempt | undefined): { word: string; origin: Origin }[] {
  if (namesAttempt(build)) return [{ word: build.status, origin: 'poll' }]
  const hasEnded = isFinal(toStatus(build.status))
  // The two interfaces may have different words for one end: what has ended and has not begun again ended as delivered.
  if (!begunAgain)
    return [{ word: hasEnded && known && isFinal(known.status) ? known.word : build.status, origin: 'poll' }]
  // That it ended the same way again shows only if it has begun again, which CI did not say: its own word of that may
  // still come, and must not open a further run.
  return [
    ...(hasEnded ? [{ word: 'initiated', origin: 'action' } as const] : []),
    { word: build.status, origin: 'poll' },
  ]
}

/** Where the source tells a build's attempts apart, nothing has to be concluded from times and words. */
export const namesAttempt = ({ attempt, lastEndAt }: LegacyBuild): boolean => (attempt ?? lastEndAt ?? null) !== null

/** In the order in which CI would have delivered them: where a UUID is an id, ids have none. */
export function oldestFirst(builds: readonly LegacyBuild[]): LegacyBuild[] {
  if (builds.some(({ id }) => isUuid(id)))
    return builds.toSorted((a, b) => (a.startedAt ?? NEWEST_MS) - (b.startedAt ?? NEWEST_MS))
  return builds.toSorted((a, b) => compareOrders(idOrder(a.id), idOrder(b.id)))
}

/** When a build starts that has not started yet. */
const NEWEST_MS = Number.MAX_SAFE_INTEGER

function isNews(effect: Effect, origin: Origin, buildEvents: readonly BuildEvent[]): boolean {
  if (effect === 'opened' || effect === 'moved') return true
  // A repetition by CI itself says that it has spoken of an attempt that only our own word stood for.
  return effect === 'duplicate' && origin === 'poll' && buildEvents.at(-1)?.origin === 'action'
}

/** One may be the short form of the other; what names no commit is the same as none. */
export function isSameCommit(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return false
  const [short, long] = [one.toLowerCase(), other.toLowerCase()].sort((a, b) => a.length - b.length)
  return short!.length >= COMMIT_CHARS_MIN && long!.startsWith(short!)
}

/** Shorter forms of a commit are shared by too many. */
const COMMIT_CHARS_MIN = 7

export function observationOf(
  { projectId }: Pick<SnapshotFor, 'projectId'>,
  build: LegacyBuild,
  { place, buildEvents }: { place: Omit<BuildPlace, 'revisionKey'>; buildEvents: readonly BuildEvent[] },
  word: string,
): Observation {
  const known = mergeDetails(buildEvents)
  return {
    projectId,
    buildId: build.id,
    branch: place.branch ?? build.branch,
    commitId: place.commitId ?? build.commitId,
    word,
    details: {
      ...NO_DETAILS,
      // On a card of its own nothing else says whose build it is.
      projectName: known.projectName,
      projectFullName: known.projectFullName,
      projectUuid: known.projectUuid,
      buildUuid: build.uuid,
      // The legacy interface names people and commits in other words: what was delivered stays.
      message: known.message === null ? firstLine(build.message) : null,
      committer: known.committer === null ? build.committer : null,
      number: build.number ?? null,
      attempt: build.attempt ?? null,
      lastEndAt: build.lastEndAt ?? null,
      startedAt: build.startedAt,
      finishedAt: ['started', 'waiting'].includes(toStatus(word)) ? null : build.finishedAt,
    },
  }
}
