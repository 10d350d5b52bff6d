import type { BuildEvent } from '../domain/builds/build-event.ts'
import { attemptKey, foldBuild, type Attempt } from '../domain/builds/attempt.ts'
import { buildKey, type BuildId, type ProjectId } from '../domain/ids.ts'
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
import type { StoredReport, ReportReads } from './records.ts'
import type { Reads } from './store.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FigureReads } from './figures.ts'

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
  const red = attempts.filter(({ status }) => details !== 'none' && isRed(status))
  for (const [buildId, own] of Map.groupBy(red, (attempt) => attempt.buildId)) {
    const { projectId } = own[0]!.buildEvents[0]!
    const reportsOn = await readReports(reads, projectId, buildId)
    for (const attempt of own) {
      const reports = reportsOn(attempt)
      if (reports.length === 0) continue
      reportedAt = Math.max(reportedAt, ...reports.map(({ receivedAt }) => receivedAt))
      const failed = failuresIn(contentsOf(reports), await buildBefore(reads, attempt))
      if (failed) failures.set(attemptKey(attempt), details === 'names' ? withoutLines(failed) : failed)
    }
  }
  return { failures, reportedAt }
}

async function readReports(
  reads: Reads,
  projectId: ProjectId,
  buildId: BuildId,
): Promise<(attempt: Attempt) => StoredReport[]> {
  const key = buildKey(projectId, buildId)
  const stored = await reads.reportsOf(key)
  const isEarly = stored.some(({ attemptSeq }) => attemptSeq === 0)
  const firstSeq = isEarly ? ((await reads.eventsOfBuilds([key]))[0]?.seq ?? 0) : 0
  return (attempt) => stored.filter((one) => isReportOn(one, attempt, firstSeq))
}

const contentsOf = (reports: readonly StoredReport[]): FailureReport[] => reports.map(({ report }) => report)

/**
 * Whether a report is about this attempt.
 * @param firstSeq the build's first build event: an earlier report is about the attempt that this event opened
 */
export const isReportOn = (
  { attemptSeq, report: { attempt: n } }: Pick<StoredReport, 'attemptSeq' | 'report'>,
  { buildEvents, details }: Attempt,
  firstSeq: number,
): boolean =>
  n === null ? buildEvents.some(({ seq }) => seq === (attemptSeq === 0 ? firstSeq : attemptSeq)) : details.attempt === n

/** The attempts of one build, whichever cards they are on. */
export async function attemptsOfBuild(
  reads: Reads,
  { projectId, buildId }: { projectId: ProjectId; buildId: BuildId },
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
  const buildEvents = await reads.eventsOfBuilds([buildKey(last.projectId, last.buildId)])
  const finished = (await attemptsOfBuild(reads, last, buildEvents)).findLast(({ status }) => isVerdict(status))
  if (!finished) return null
  const reportsOn = await readReports(reads, last.projectId, last.buildId)
  return { reports: contentsOf(reportsOn(finished)), isRed: isRed(finished.status) }
}

/** At most this many reports are read, the newest ones: each can have 64 KiB. */
const REPORTS_READ_MAX = 1_000

/** Builds read at once, before the event loop gets to do other work. */
const BUILDS_AT_ONCE = 20

type FlakyReads = ReportReads & Pick<FigureReads, 'eventsAndRestartsOf'>

/** Which tests of these projects failed and passed on the same commit, by what was reported since then (ms). */
export async function readFlakyTests(
  reads: FlakyReads,
  projectIds: readonly ProjectId[],
  since: number,
): Promise<FlakyTest[]> {
  const reported = await reads.reportedBuilds(projectIds, since, REPORTS_READ_MAX)
  let count = 0
  const newest = reported.filter(({ reports }) => (count += reports) <= REPORTS_READ_MAX)
  const attempts: ReportedAttempt[] = []
  for (const [projectId, builds] of Map.groupBy(newest, (build) => build.projectId)) {
    for (let at = 0; at < builds.length; at += BUILDS_AT_ONCE) {
      const ids = builds.slice(at, at + BUILDS_AT_ONCE).map(({ buildId }) => buildId)
      attempts.push(...(await readAttempts(reads, projectId, ids)))
      await nextTurn()
    }
  }
  return flakyTestsOf(attempts)
}

async function readAttempts(
  reads: FlakyReads,
  projectId: ProjectId,
  ids: readonly BuildId[],
): Promise<ReportedAttempt[]> {
  const { buildEvents, restarts } = await reads.eventsAndRestartsOf(ids.map((id) => buildKey(projectId, id)))
  const reported: ReportedAttempt[] = []
  for (const [buildId, own] of Map.groupBy(buildEvents, (buildEvent) => buildEvent.buildId)) {
    const stored = await reads.reportsOf(buildKey(projectId, buildId))
    const { revisionKey, seq } = own[0]!
    for (const attempt of foldBuild(own, restarts).attempts) {
      const about = stored.filter((one) => isReportOn(one, attempt, seq))
      const reports = about.map(({ report }) => namesOf(report))
      const { buildOrder, n } = attempt
      if (reports.length > 0) reported.push({ projectId, revisionKey, buildOrder, n, reports })
    }
  }
  return reported
}

/** Keeps only the names of failed tests in memory: they are all that is compared. */
const namesOf = (report: FailureReport): FailureReport => ({
  ...report,
  failures: report.failures.map(({ test }) => ({ ...NO_FAILURE, test })),
  log: [],
})
