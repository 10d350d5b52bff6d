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
