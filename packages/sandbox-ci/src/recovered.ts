import { buildsOf, currentRun } from './state.ts'
import type { Build, CiState, Run } from './state.ts'

/** Whether the build's run succeeded and the last run before it that passed or failed, on the same branch, failed. */
export function isRecovered(state: CiState, build: Build): boolean {
  if (currentRun(build).status !== 'success') return false
  const before = buildsOf(state, build.projectId)
    .filter((other) => other.branch === build.branch && other.id <= build.id)
    .flatMap((other) => other.runs)
    .filter((run) => run !== currentRun(build) && isVerdict(run))
  return before.length > 0 && isRed(before.at(-1)!)
}

// stopped, ignored and blocked say nothing about the commit, so they are skipped.
const isVerdict = (run: Run): boolean => run.status === 'success' || isRed(run)
const isRed = (run: Run): boolean => run.status === 'error' || run.status === 'infrastructure_failure'
