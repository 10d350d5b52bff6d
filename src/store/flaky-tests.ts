import { setImmediate as nextTurn } from 'node:timers/promises'
import { foldBuild } from '../domain/attempt.ts'
import { flakyTestsOf, type FlakyTest, type ReportedAttempt } from '../domain/flaky-tests.ts'
import { buildKey, type BuildId, type ProjectId } from '../domain/ids.ts'
import type { TestReport } from '../domain/test-report.ts'
import { isReportOn } from './failed-tests.ts'
import type { FigureReads } from './figures.ts'
import type { ReportedBuild, ReportReads } from './reports.ts'

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
  const reported: (ReportedBuild & { projectId: ProjectId })[] = []
  for (const projectId of await reads.reportedAmong(projectIds, since)) {
    const builds = await reads.reportedBuilds(projectId, since, REPORTS_READ_MAX)
    reported.push(...builds.map((build) => ({ projectId, ...build })))
  }
  let count = 0
  const newest = reported
    .sort((a, b) => b.newest - a.newest)
    .filter(({ reports }) => (count += reports) <= REPORTS_READ_MAX)
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
const namesOf = (report: TestReport): TestReport => ({
  ...report,
  failures: report.failures.map(({ name }) => ({ name, message: null })),
  log: [],
})
