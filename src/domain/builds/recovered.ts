import type { BuildEvent } from './build-event.ts'
import { countBuilds, sinceGreen, type RedSince } from './breakage.ts'
import { compareOrders } from '../ids.ts'
import type { Attempt } from './attempt.ts'
import type { CHANGES } from '../rules/rule.ts'
import { isRed, isVerdict } from './status.ts'

/** An attempt's effect on its branch: it turned it red (`broken`), or green again (`recovered`). */
export type Turn = (typeof CHANGES)[number]

/**
 * The red streak that an attempt ended: it passed, and the finished attempt before it on its branch, in build order, was
 * red. Null if it ended none. A success that is received after a newer build has finished recovers nothing. Attempts
 * that were stopped, ignored or blocked, or have not finished, do not count; nor does a success that was received after
 * this one, or an older build that ended after this one. Without history, nothing is recovered.
 * @param history finished attempts of the same project and branch, in any order; the attempt itself may be among them
 */
export function recoveryOf(attempt: Attempt, history: readonly Attempt[], historyIsCut = false): RedSince | null {
  const before = attempt.status === 'success' ? countedBefore(attempt, history) : null
  return before && redStreak(before, historyIsCut)
}

/**
 * Whether an attempt broke its branch, the mirror of `recoveryOf`: it is red, and the finished attempt before it on its
 * branch was green, or there is none.
 * @param history finished attempts of the same project and branch, in any order; the attempt itself may be among them
 */
export function breaks(attempt: Attempt, history: readonly Attempt[]): boolean {
  const before = isRed(attempt.status) ? countedBefore(attempt, history) : null
  return before !== null && !isRed(before.at(-1)?.status ?? 'success')
}

/** The outcomes before this one that give the branch's state then; null if a newer build had finished before it. */
function countedBefore(attempt: Attempt, history: readonly Attempt[]): Attempt[] | null {
  const { finalSeq } = attempt
  if (finalSeq === null) return null
  const verdicts = history.filter((other) => isVerdict(other.status) && other.finalSeq !== null)
  const overtaken = verdicts.some((other) => other.buildOrder > attempt.buildOrder && other.finalSeq! < finalSeq)
  if (overtaken) return null
  // An outcome of the same colour that is received later must not undo this attempt's news. Nor must a `history` event,
  // which sends no message, change earlier messages.
  const counts = (other: Attempt) =>
    other.finalSeq! < finalSeq ||
    // The source itself says in which order the attempts of one build were.
    (other.buildOrder === attempt.buildOrder && areNumbered(other, attempt)) ||
    (isRed(other.status) !== isRed(attempt.status) &&
      endOf(other)?.origin !== 'history' &&
      !endedLater(other.details, attempt.details))
  return verdicts.filter((other) => compareEnds(other, attempt) < 0 && counts(other)).sort(compareEnds)
}

/** Whether an older build surely ended after a newer one, and was not only delivered later. */
export const endedLater = (older: Ended, newer: Ended): boolean =>
  older.finishedAt !== null && newer.finishedAt !== null && older.finishedAt > newer.finishedAt

type Ended = Pick<BuildEvent['details'], 'finishedAt'>

const endOf = ({ buildEvents, finalSeq }: Attempt): BuildEvent | undefined =>
  buildEvents.find(({ seq }) => seq === finalSeq)

/**
 * How long a branch had been red up to this attempt, which is red itself or has no outcome. Null: not red.
 * @param history finished attempts of the same project and branch, in any order
 */
export function redStreakTo(attempt: Attempt, history: readonly Attempt[], historyIsCut: boolean): RedSince | null {
  if (attempt.status === 'success') return null
  const before = history.filter((other) => isVerdict(other.status) && endedBefore(other, attempt)).sort(compareEnds)
  return redStreak(isRed(attempt.status) ? [...before, attempt] : before, historyIsCut)
}

// An attempt that has not ended comes after all that have.
const endedBefore = (other: Attempt, attempt: Attempt): boolean =>
  compareEnds(other, { ...attempt, finalSeq: attempt.finalSeq ?? Number.POSITIVE_INFINITY }) < 0

/** A build event that finishes a build, with its order of receipt. */
type OutcomeEvent = Pick<BuildEvent, 'seq' | 'buildId' | 'status'>

/**
 * The successes that recovered from this red outcome: those after it in build order, unless another success in between
 * was received earlier. @param later the branch's outcomes from the red one's build on, by build order, then receipt
 */
export function recoveringFrom<T extends OutcomeEvent>(red: OutcomeEvent, later: readonly T[]): T[] {
  const recovering: T[] = []
  let greenSince = Number.POSITIVE_INFINITY
  for (const one of later) {
    const isEarlier = one.buildId === red.buildId && one.seq < red.seq
    if (one.status !== 'success' || isEarlier) continue
    if (one.seq < greenSince) recovering.push(one)
    greenSince = Math.min(greenSince, one.seq)
  }
  return recovering
}

/**
 * The red outcomes that this success recovered from: those before it in build order, to a success received earlier.
 * @param earlier outcomes of the same branch up to the success's own build, newest build first, then newest first
 */
export function recoveredFrom<T extends OutcomeEvent>(green: OutcomeEvent, earlier: readonly T[]): T[] {
  const isBefore = ({ buildId, seq }: T) => buildId !== green.buildId || seq < green.seq
  const before = earlier.filter(isBefore)
  const end = before.findIndex(({ status, seq }) => status === 'success' && seq < green.seq)
  return before.slice(0, end === -1 ? undefined : end).filter(({ status }) => isRed(status))
}

type End = Pick<Attempt, 'buildOrder' | 'finalSeq' | 'n' | 'details'>

/** Newest last. Attempts of one build are sorted by the source's numbers if there are any, else by when they ended. */
function compareEnds(a: End, b: End): number {
  const byNumber = areNumbered(a, b) ? a.n - b.n : 0
  return compareOrders(a.buildOrder, b.buildOrder) || byNumber || (a.finalSeq ?? 0) - (b.finalSeq ?? 0)
}

/**
 * Whether the source numbered both attempts. Our own numbers do not count: on each card of a build they begin with 1.
 */
const areNumbered = (a: Pick<Attempt, 'details'>, b: Pick<Attempt, 'details'>): boolean =>
  a.details.attempt != null && b.details.attempt != null

// Counts as a breakage does: builds that failed, and CI machine errors only if nothing else is red.
function redStreak(before: readonly Attempt[], historyIsCut: boolean): RedSince | null {
  const { red, failed } = sinceGreen(before)
  const streak = failed.length > 0 ? failed : red
  const [first] = streak
  if (!first) return null
  return { at: first.finalAt!, builds: countBuilds(streak), atLeast: historyIsCut && red.length === before.length }
}
