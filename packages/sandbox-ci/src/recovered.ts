import { buildsOf, currentRun } from './state.ts'
import type { Build, CiState, Run } from './state.ts'

/** A build of the same project and branch finished before this run, with a verdict, and failed; this run succeeded. */
export function isRecovered(state: CiState, build: Build): boolean {
  if (currentRun(build).status !== 'success') return false
  const before = buildsOf(state, build.projectId)
    .filter((other) => other.branch === build.branch && other.id <= build.id)
    .flatMap((other) => other.runs)
    .filter((run) => run !== currentRun(build) && isVerdict(run))
  return before.length > 0 && isRed(before.at(-1)!)
}

// stopped, ignored and blocked say nothing about the commit: they neither make nor break a recovery.
const isVerdict = (run: Run): boolean => run.status === 'success' || isRed(run)
const isRed = (run: Run): boolean => run.status === 'error' || run.status === 'infrastructure_failure'
