import type { Fact } from './fact.ts'
import { idOrder } from './ids.ts'
import type { Run } from './run.ts'
import { isRed, isVerdict } from './status.ts'

/** How long a branch was red before this run: when its first red run ended (ms), and how many builds were red. */
export interface Recovery {
  sinceAt: number
  builds: number
  /** true when the history that we read ends before the streak does: it was red for at least so long */
  atLeast: boolean
}

/**
 * `recovered` for one run: it passed, and the finished run before it on its branch, in build order, was red. A success of
 * an older build that arrives after a newer one has finished recovers nothing. Stopped, ignored and blocked runs, and
 * those that have not finished, are passed over; so is a success that was received after this one. No history means not
 * recovered.
 * @param history finished runs of the same project and branch, in any order; the run itself may be among them
 */
export function recoveryOf(run: Run, history: readonly Run[], historyIsCut = false): Recovery | null {
  const { finalSeq } = run
  if (run.status !== 'success' || finalSeq === null) return null
  const verdicts = history.filter((other) => isVerdict(other.status) && other.finalSeq !== null)
  const overtaken = verdicts.some((other) => compareEnds(other, run) > 0 && other.finalSeq! < finalSeq)
  if (overtaken) return null
  // A green one that comes after this run has finished does not take its recovery away again.
  const counts = (other: Run) => isRed(other.status) || other.finalSeq! < finalSeq
  const before = verdicts.filter((other) => compareEnds(other, run) < 0 && counts(other)).sort(compareEnds)
  return redStreak(before, historyIsCut)
}

/**
 * How long a branch had been red when this red run ended, the run included.
 * @param history finished runs of the same project and branch, in any order
 */
export function redStreakTo(run: Run, history: readonly Run[], historyIsCut: boolean): Recovery | null {
  const before = history.filter((other) => isVerdict(other.status) && compareEnds(other, run) < 0).sort(compareEnds)
  return redStreak([...before, run], historyIsCut)
}

/** What finishes a build, by its place among the outcomes of its branch. */
type Placed = Pick<Fact, 'seq' | 'buildId' | 'status'>

/**
 * Whose recovery tells of this red outcome: what passed after it, with no green one in between that had come before.
 * @param later outcomes of the same branch from the red one's own build on, in the order of builds, then of receipt
 */
export function recoveringFrom<T extends Placed>(red: Placed, later: readonly T[]): T[] {
  const recovering: T[] = []
  let greenSince = Number.POSITIVE_INFINITY
  for (const one of later) {
    const isBefore = one.buildId === red.buildId && one.seq < red.seq
    if (one.status !== 'success' || isBefore) continue
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

// Runs of one build go by what ended them: each card of a build that rested counts its runs from one.
function compareEnds(a: Run, b: Run): number {
  const [left, right] = [idOrder(a.buildId), idOrder(b.buildId)]
  return left === right ? (a.finalSeq ?? 0) - (b.finalSeq ?? 0) : left < right ? -1 : 1
}

function redStreak(before: readonly Run[], historyIsCut: boolean): Recovery | null {
  const lastGreen = before.findLastIndex((run) => !isRed(run.status))
  const streak = before.slice(lastGreen + 1)
  if (streak.length === 0) return null
  return {
    sinceAt: streak[0]!.finalAt!,
    builds: new Set(streak.map((run) => run.buildId)).size,
    atLeast: historyIsCut && lastGreen === -1,
  }
}
