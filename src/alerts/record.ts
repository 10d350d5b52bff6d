import {
  isFinalEvent,
  mergeDetails,
  toBuildEvent,
  type BuildEvent,
  type Observation,
  type Recorded,
} from '../domain/build-event.ts'
import { revisionKey } from '../domain/revision.ts'
import { restartRequests } from '../domain/request.ts'
import { effectsOf } from '../domain/attempt.ts'
import { isRed, isFinal, toStatus } from '../domain/status.ts'
import type { Clock } from '../lib/clock.ts'
import type { StoredEvent } from '../store/records.ts'
import type { Store, Tx } from '../store/store.ts'

/**
 * A build that ends is told to its end. One that says ever new words and never ends would make its card larger without
 * bound: beyond so many build events what it says is counted, until it says how it ended. A build has about three.
 */
export const UNENDED_EVENTS_MAX = 500

/** A sender repeats what it got no answer for; what comes later than this is news. */
const REPETITION_MAX_MS = 60 * 60_000

export interface RecordDelivery {
  store: Pick<Store, 'write'>
  clock: Clock
  /** a hint that a revision has news; it may be lost, the sweep finds what was missed */
  wake: (revisionKey: string) => void
}

/**
 * Stores one delivery and what it says of a build, durably, and says whether the same was said before. Resolves after it
 * is on disk; rejects when it is not, and then nothing of it is stored. A repetition is counted on the build event it repeats.
 */
export async function recordDelivery(
  { store, clock, wake }: RecordDelivery,
  delivery: { seen: Observation; body: string },
): Promise<Recorded> {
  const recorded = await store.write((tx) => record(tx, delivery, clock.now()))
  if (recorded.answer === 'recorded') wake(recorded.revisionKey)
  return recorded
}

async function record(tx: Tx, { seen, body }: { seen: Observation; body: string }, at: number): Promise<Recorded> {
  const known = await tx.eventsOfBuild(seen.projectId, seen.buildId)
  const unanswered = known.find((buildEvent) => isRepetitionOf(buildEvent, seen, at))
  if (unanswered) return countRepetition(tx, unanswered, { at, body })
  const isOnlyCounted = isEndless(known, seen)
  const answer = isOnlyCounted || (await isRepeated(tx, seen, known, at)) ? 'duplicate' : 'recorded'
  // Build events of one build stay together even where some of them leave out the branch or the commit.
  const branch = seen.branch ?? known.findLast((buildEvent) => buildEvent.branch !== null)?.branch ?? null
  const commitId = seen.commitId ?? known.findLast((buildEvent) => buildEvent.commitId !== null)?.commitId ?? null
  const key = known[0]?.revisionKey ?? revisionKey({ ...seen, branch, commitId })
  let eventSeq: number
  if (isOnlyCounted || (answer === 'duplicate' && !knowsMore(seen, known))) {
    eventSeq = known.at(-1)!.seq
    await tx.countRepeat(eventSeq)
  } else {
    const where = {
      at,
      origin: 'delivery',
      priority: urgencyOf(seen.word),
      revisionKey: key,
      branch,
      commitId,
    } as const
    eventSeq = await tx.insertBuildEvent(seen, where)
  }
  const deliveryId = await tx.insertDelivery({ receivedAt: at, answer, eventSeq, body })
  return { answer, deliveryId, eventSeq, revisionKey: key }
}

/**
 * A sender that got no answer says the same again, perhaps after the build has ended: that is no restart (decision 16).
 * One that brings a detail more, such as another start time, is not the same.
 */
const isRepetitionOf = (earlier: StoredEvent, seen: Observation, at: number): boolean =>
  !earlier.isAcknowledged &&
  earlier.word === seen.word &&
  at - earlier.at <= REPETITION_MAX_MS &&
  JSON.stringify(earlier.details) === JSON.stringify(seen.details)

async function countRepetition(
  tx: Tx,
  { seq: eventSeq, revisionKey: key }: StoredEvent,
  { at: receivedAt, body }: { at: number; body: string },
): Promise<Recorded> {
  await tx.countRepeat(eventSeq)
  const deliveryId = await tx.insertDelivery({ receivedAt, answer: 'duplicate', eventSeq, body })
  return { answer: 'duplicate', deliveryId, eventSeq, revisionKey: key }
}

const isEndless = (known: readonly BuildEvent[], { word }: Observation): boolean =>
  known.length >= UNENDED_EVENTS_MAX && !isFinal(toStatus(word)) && !known.some(isFinalEvent)

async function isRepeated(tx: Tx, seen: Observation, known: readonly BuildEvent[], at: number): Promise<boolean> {
  // What we had CI do is not yet CI's own word of it.
  if (known.length === 0 || known.at(-1)!.origin === 'action') return false
  const buildEvents = [...known, toBuildEvent(seen, Number.MAX_SAFE_INTEGER, at)]
  if (effectsOf(buildEvents).at(-1) !== 'duplicate') return false
  // What looks like a late start said twice may be the start that somebody asked for.
  const restarts = restartRequests(await tx.restartsOf(seen.projectId, seen.buildId))
  return restarts.length === 0 || effectsOf(buildEvents, restarts).at(-1) === 'duplicate'
}

// A repetition may bring what was missing, such as the uuids that only a build step can know.
const knowsMore = (seen: Observation, known: readonly Observation[]): boolean =>
  JSON.stringify(mergeDetails([seen, ...known])) !== JSON.stringify(mergeDetails(known))

// Failures first, then what has ended, then what has begun.
function urgencyOf(word: string): number {
  const status = toStatus(word)
  return isRed(status) ? 0 : isFinal(status) ? 1 : 2
}
