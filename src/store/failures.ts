import type { BuildEvent } from '../domain/builds/build-event.ts'
import { attemptKey, foldBuild, type Attempt } from '../domain/builds/attempt.ts'
import { buildKey, type ProjectId } from '../domain/ids.ts'
import { credible, restartRequests } from '../domain/cards/request.ts'
import { isRed, isVerdict } from '../domain/builds/status.ts'
import {
  failuresIn,
  withoutLines,
  type Details,
  NO_FAILURE,
  type BuildBefore,
  type FailureReport,
  type Failures,
} from '../domain/builds/failure.ts'
import { flakyTestsOf, type FlakyTest, type ReportedAttempt } from '../domain/builds/flaky-tests.ts'
import { branchKeyOf } from '../domain/builds/history.ts'
import type { StoredReport } from './records.ts'
import type { BuildIds, Reads } from './store.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { slicesOf } from './figures.ts'

// What failed in an attempt, as its build steps and its source report it.

/** Outcomes of the branch that are read to find the build before: the newest outcome of another build. */
const OUTCOMES_MAX = 16

/**
 * What failed in each red attempt that has a report, by attempt key, and when the newest of these reports was
 * received (ms; 0: there is none). Attempts that are not red cost no read, and none does where no details are shown.
 */
export async function failuresOf(
  reads: Reads,
  attempts: readonly Attempt[],
  details: Details = 'lines',
): Promise<{ failures: Map<string, Failures>; reportedAt: number }> {
  const failures = new Map<string, Failures>()
  let reportedAt = 0
  for (const attempt of attempts.filter(({ status }) => details !== 'none' && isRed(status))) {
    const reports = await reportsOn(reads, attempt)
    if (reports.length === 0) continue
    reportedAt = Math.max(reportedAt, ...reports.map(({ receivedAt }) => receivedAt))
    const failed = failuresIn(contentsOf(reports), await buildBefore(reads, attempt))
    if (failed) failures.set(attemptKey(attempt), details === 'names' ? withoutLines(failed) : failed)
  }
  return { failures, reportedAt }
}

async function reportsOn(reads: Reads, attempt: Attempt): Promise<StoredReport[]> {
  const stored = await reads.reportsOf(keyOf(attempt.buildEvents[0]!))
  return stored.filter((one) => isReportOn(one, attempt))
}

const keyOf = ({ projectId, buildId }: BuildIds): string => buildKey(projectId, buildId)

const contentsOf = (reports: readonly StoredReport[]): FailureReport[] => reports.map(({ report }) => report)

/** Whether a report is about this attempt. */
export const isReportOn = ({ attemptSeq, report }: StoredReport, { buildEvents, details }: Attempt): boolean =>
  report.attempt === null ? buildEvents.some(({ seq }) => seq === attemptSeq) : details.attempt === report.attempt

/** The attempts of one build, whichever cards they are on. */
export async function attemptsOfBuild(
  reads: Reads,
  { projectId, buildId }: BuildIds,
  buildEvents: readonly BuildEvent[],
): Promise<Attempt[]> {
  const restarts = await reads.restartsOf(projectId, buildId)
  return foldBuild(credible(buildEvents, restarts), restartRequests(restarts)).attempts
}

async function buildBefore(reads: Reads, attempt: Attempt): Promise<BuildBefore | null> {
  const branch = branchKeyOf(attempt)
  const outcomes = branch === null ? [] : await reads.verdictsBefore(branch, attempt.buildOrder, OUTCOMES_MAX)
  const last = outcomes.find(({ buildId }) => buildId !== attempt.buildId)
  if (!last) return null
  const buildEvents = await reads.eventsOfBuilds([keyOf(last)])
  const finished = (await attemptsOfBuild(reads, last, buildEvents)).findLast(({ status }) => isVerdict(status))
  return finished ? { reports: contentsOf(await reportsOn(reads, finished)), isRed: isRed(finished.status) } : null
}

/** At most this many reports are read, the newest ones: each can have 64 KiB. */
const REPORTS_READ_MAX = 1_000

/** Builds read at once, before the event loop gets to do other work. */
const BUILDS_AT_ONCE = 20

/** Which tests of these projects failed and passed on the same commit, by what was reported since then (ms). */
export async function readFlakyTests(
  reads: Reads,
  projectIds: readonly ProjectId[],
  since: number,
): Promise<FlakyTest[]> {
  const reported = await reads.reportedBuilds(projectIds, since, REPORTS_READ_MAX)
  let count = 0
  const newest = [...reported].filter(([, reports]) => (count += reports) <= REPORTS_READ_MAX)
  const attempts: ReportedAttempt[] = []
  for (const some of slicesOf(newest, BUILDS_AT_ONCE)) {
    const { buildEvents, restarts } = await reads.eventsAndRestartsOf(some.map(([key]) => key))
    for (const [key, own] of Map.groupBy(buildEvents, keyOf)) {
      const { projectId, revisionKey } = own[0]!
      const ofProject = restarts.filter((one) => one.projectId === projectId)
      const stored = await reads.reportsOf(key)
      for (const attempt of foldBuild(own, ofProject).attempts) {
        const about = stored.filter((one) => isReportOn(one, attempt))
        const { buildOrder, n } = attempt
        attempts.push({ projectId, revisionKey, buildOrder, n, reports: contentsOf(about).map(namesOf) })
      }
    }
    await nextTurn()
  }
  return flakyTestsOf(attempts)
}

/** Keeps only the names of failed tests in memory: they are all that is compared. */
const namesOf = (report: FailureReport): FailureReport => ({
  ...report,
  failures: report.failures.map(({ test }) => ({ ...NO_FAILURE, test })),
  log: [],
})
