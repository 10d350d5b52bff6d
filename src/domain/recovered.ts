import type { BuildEvent } from './build-event.ts'
import { countBuilds, sinceGreen } from './breakage.ts'
import { compareOrders } from './ids.ts'
import type { Attempt } from './attempt.ts'
import type { CHANGES } from './rule.ts'
import { isRed, isVerdict } from './status.ts'

/** How long a branch was red before this attempt: when its first failed run ended (ms), and how many builds failed. */
export interface Recovery {
  sinceAt: number
  builds: number
  /** true when the history that we read ends before the streak does: it was red for at least this long */
  atLeast: boolean
}

/** What an attempt did to its branch: turned it red, or green again. */
export type Turn = (typeof CHANGES)[number]

/**
 * `recovered` for one attempt: it passed, and the finished run before it on its branch, in build order, was red. A success of
 * an older build that arrives after a newer one has finished recovers nothing. Stopped, ignored and blocked runs, and
 * those that have not finished, are passed over; so is a success that was received after this one. No history means not
 * recovered.
 * @param history finished runs of the same project and branch, in any order; the attempt itself may be among them
 */
export function recoveryOf(attempt: Attempt, history: readonly Attempt[], historyIsCut = false): Recovery | null {
  const before = attempt.status === 'success' ? countedBefore(attempt, history) : null
  return before && redStreak(before, historyIsCut)
}

/**
 * `broken` for one attempt, the mirror of `recovered`: it is red, and the finished attempt before it on its branch was
 * green, or there is none.
 * @param history finished attempts of the same project and branch, in any order; the attempt itself may be among them
 */
export function breaks(attempt: Attempt, history: readonly Attempt[]): boolean {
  const before = isRed(attempt.status) ? countedBefore(attempt, history) : null
  return before !== null && !isRed(before.at(-1)?.status ?? 'success')
}

/** The outcomes before this one that say how the branch stood; null where a newer build had finished before it. */
function countedBefore(attempt: Attempt, history: readonly Attempt[]): Attempt[] | null {
  const { finalSeq } = attempt
  if (finalSeq === null) return null
  const verdicts = history.filter((other) => isVerdict(other.status) && other.finalSeq !== null)
  const overtaken = verdicts.some((other) => compareEnds(other, attempt) > 0 && other.finalSeq! < finalSeq)
  if (overtaken) return null
  // One of the same colour that comes after this attempt has finished does not take its news away again; and what is
  // recorded without telling makes no news of what was told before.
  const counts = (other: Attempt) =>
    other.finalSeq! < finalSeq || (isRed(other.status) !== isRed(attempt.status) && endOf(other)?.origin !== 'history')
  return verdicts.filter((other) => compareEnds(other, attempt) < 0 && counts(other)).sort(compareEnds)
}

const endOf = ({ buildEvents, finalSeq }: Attempt): BuildEvent | undefined =>
  buildEvents.find(({ seq }) => seq === finalSeq)

/**
 * How long a branch had been red as of this attempt, which is red itself or says nothing of its branch.
 * @param history finished attempts of the same project and branch, in any order
 */
export function redStreakTo(attempt: Attempt, history: readonly Attempt[], historyIsCut: boolean): Recovery | null {
  if (attempt.status === 'success') return null
  const before = history.filter((other) => isVerdict(other.status) && endedBefore(other, attempt)).sort(compareEnds)
  return redStreak(isRed(attempt.status) ? [...before, attempt] : before, historyIsCut)
}

// What has not ended comes after all that has.
const endedBefore = (other: Attempt, { buildOrder, finalSeq }: Attempt): boolean =>
  compareEnds(other, { buildOrder, finalSeq: finalSeq ?? Number.POSITIVE_INFINITY }) < 0

/** What finishes a build, by its place among the outcomes of its branch. */
type Placed = Pick<BuildEvent, 'seq' | 'buildId' | 'status'>

/**
 * Whose recovery tells of this red outcome: what passed after it, with no green one in between that had come before.
 * @param later outcomes of the same branch from the red one's own build on, in the order of builds, then of receipt
 */
export function recoveringFrom<T extends Placed>(red: Placed, later: readonly T[]): T[] {
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
 * What this green outcome recovered from: the red ones before it, back to the green one that had come before it.
 * @param earlier outcomes of the same branch up to the green one's own build, newest build first, then newest first
 */
export function recoveredFrom<T extends Placed>(green: Placed, earlier: readonly T[]): T[] {
  const isBefore = ({ buildId, seq }: T) => buildId !== green.buildId || seq < green.seq
  const before = earlier.filter(isBefore)
  const end = before.findIndex(({ status, seq }) => status === 'success' && seq < green.seq)
  return before.slice(0, end === -1 ? undefined : end).filter(({ status }) => isRed(status))
}

// Runs of one build go by what ended them: each card of a build that rested counts its attempts from one.
type End = Pick<Attempt, 'buildOrder' | 'finalSeq'>

function compareEnds(a: End, b: End): number {
  return compareOrders(a.buildOrder, b.buildOrder) || (a.finalSeq ?? 0) - (b.finalSeq ?? 0)
}

// As a breakage counts: by what failed, and by the errors of machines only where there is nothing else.
function redStreak(before: readonly Attempt[], historyIsCut: boolean): Recovery | null {
  const { red, failed } = sinceGreen(before)
  const streak = failed.length > 0 ? failed : red
  const [first] = streak
  if (!first) return null
  return { sinceAt: first.finalAt!, builds: countBuilds(streak), atLeast: historyIsCut && red.length === before.length }
}
