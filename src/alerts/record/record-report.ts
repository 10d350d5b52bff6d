import { isDeepStrictEqual } from 'node:util'
import type { FailureReport } from '../../domain/builds/failure.ts'
import { buildKey, isRepositoryId, isUuid, repositoryOf, toUuid, type ProjectId } from '../../domain/ids.ts'
import { branchKeyOf } from '../../domain/builds/history.ts'
import { isRed, isVerdict } from '../../domain/builds/status.ts'
import { maskSecrets } from '../../lib/secret-shapes.ts'
import type { ReadReport } from '../../sources/endpoint.ts'
import { NOTHING_SAID } from '../../sources/job-report.ts'
import type { SourceReport, UnreadBuild } from '../../sources/source.ts'
import type { Stored } from '../../sources/webhook-route.ts'
import { attemptsOfBuild, isReportOn } from '../../store/failures.ts'
import type { StoredReport } from '../../store/records.ts'
import type { BuildIds, Tx } from '../../store/store.ts'
import type { Attempt } from '../../domain/builds/attempt.ts'
import { knownId, type RecordDelivery } from './record.ts'

/** Reports kept per build, over all shards and attempts; beyond that the oldest is removed. */
export const REPORTS_PER_BUILD_MAX = 100

/** Reports kept of unknown builds; beyond that the oldest is removed. */
export const EARLY_REPORTS_MAX = 5_000

/** The same for one project, so that it does not push out those of others: a job's secret is good for one repository. */
export const EARLY_REPORTS_OF_PROJECT_MAX = 500

/** At most this many later builds of the branch are replanned: the report may change which of their tests are new. */
const SUCCESSORS_MAX = 4

/**
 * Stores a build step's test report, durably. It is about the build's newest attempt or, if the build is not known yet,
 * about its first one. It replaces an earlier report of the same shard.
 */
export async function recordReport({ store, clock }: RecordDelivery, read: ReadReport): Promise<Stored> {
  const report = masked(read.report)
  const answer = await store.write((tx) => record(tx, { ...read, report }, clock.now()))
  return { answer, fields: { project: read.projectId, build: read.buildId } }
}

/** Stores what the source says failed in one attempt, even if that is nothing: then it is not asked again. */
export const recordFailures = (
  { store, clock }: Pick<RecordDelivery, 'store' | 'clock'>,
  { projectId, buildId, attempt }: UnreadBuild,
  reports: readonly SourceReport[],
): Promise<void> => {
  const said = reports.length > 0 ? reports : [NOTHING_SAID]
  const safe = said.map((report) => masked({ ...report, by: 'source', attempt }))
  return store.write(async (tx) => {
    for (const report of safe) await record(tx, { projectId, buildId, report }, clock.now())
  })
}

async function record(
  tx: Tx,
  { projectId: project, buildId: named, report }: Omit<ReadReport, 'kind'>,
  at: number,
): Promise<Stored['answer']> {
  const projectId = await workflowOf(tx, { projectId: project, buildId: named })
  const buildId = await knownId(tx, { projectId, buildId: named, uuid: isUuid(named) ? toUuid(named) : null })
  const buildEvents = await tx.eventsOfBuild(projectId, buildId)
  const attempts = await attemptsOfBuild(tx, { projectId, buildId }, buildEvents)
  const n = report.attempt
  const attempt = attempts.findLast(({ details }) => n === null || details.attempt === n)
  const key = buildKey(projectId, buildId)
  const stored = await tx.reportsOf(key)
  const isOfAttempt = (one: StoredReport) => (attempt ? isReportOn(one, attempt) : one.report.attempt === n)
  const same = stored.find((one) => one.report.by === report.by && one.report.part === report.part && isOfAttempt(one))
  if (same && isDeepStrictEqual(same.report, report)) return 'duplicate'
  const replaced = same ?? (stored.length < REPORTS_PER_BUILD_MAX ? null : stored[0]!)
  if (replaced) await tx.removeReport(replaced.id)
  await tx.insertReport({ buildKey: key, attemptSeq: attempt?.firstSeq ?? 0, receivedAt: at, report })
  if (attempt) await wakeAffected(tx, attempt, at)
  else {
    await tx.boundEarlyReports(EARLY_REPORTS_OF_PROJECT_MAX, projectId)
    await tx.boundEarlyReports(EARLY_REPORTS_MAX, null)
  }
  return 'recorded'
}

/**
 * The project of a run whose report names only its repository. The repository itself while the run is not ingested: then
 * `alerts/ingest` gives it the report.
 */
async function workflowOf(tx: Tx, { projectId, buildId }: BuildIds): Promise<ProjectId> {
  if (!isRepositoryId(projectId)) return projectId
  const runs = await tx.buildsWithId('github', buildId, SAME_ID_MAX)
  return runs.find((run) => repositoryOf(run.projectId) === projectId)?.projectId ?? projectId
}

/** Runs have ids of their own, unless deliveries are forged. */
const SAME_ID_MAX = 10

/** Whatever has the form of a secret is removed before it is stored, even if the sender has done so. */
const masked = (report: FailureReport): FailureReport =>
  JSON.parse(JSON.stringify(report), (_, value: unknown) => (typeof value === 'string' ? maskSecrets(value) : value))

/** Wakes the revisions whose cards a report may change; none while its build runs. */
async function wakeAffected(tx: Tx, attempt: Attempt, now: number): Promise<void> {
  const { status, buildOrder, buildEvents } = attempt
  if (!isVerdict(status)) return
  if (isRed(status)) await tx.wakeRevision(buildEvents[0]!.revisionKey, now, 1)
  const branch = branchKeyOf(attempt)
  const later = branch === null ? [] : await tx.revisionsAfter(branch, buildOrder, SUCCESSORS_MAX)
  // Only a red build shows its failed tests.
  for (const { revisionKey } of later.filter(({ hasRed }) => hasRed)) await tx.wakeRevision(revisionKey, now, 1)
}
