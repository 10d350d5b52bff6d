import { endIfGone, type BranchEndsDeps } from '../catalog/branch-ends.ts'

/** Each red branch is asked about once a day, even if nobody is told of it. */
const CHECK_AGAIN_MS = 24 * 60 * 60_000

/** One round asks about at most this many branches. Each takes two or three calls. */
export const BRANCHES_MAX = 10

/** Ends the streaks of red branches that are gone, so that none stays red for good. */
export async function checkBranches(deps: BranchEndsDeps, signal: AbortSignal): Promise<void> {
  for (const breakage of await deps.store.read.breakagesToCheck(deps.clock.now() - CHECK_AGAIN_MS, BRANCHES_MAX)) {
    if (signal.aborted) return
    await endIfGone(deps, breakage, signal)
  }
}
