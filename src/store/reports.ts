import type { BuildId, ProjectId } from '../domain/ids.ts'
import type { FailureReport } from '../domain/builds/failure.ts'

/** A stored test report. */
export interface StoredReport {
  id: number
  /** the build event that opened the attempt it is about; 0: it was received before the build was known */
  attemptSeq: number
  receivedAt: number
  report: FailureReport
}

/** A build, how many reports it has, and the id of the newest one. */
export interface ReportedBuild {
  buildId: BuildId
  newest: number
  reports: number
}

export interface ReportReads {
  /** The reports of a build (`project_id/build_id`), in order of receipt. */
  reportsOf(buildKey: string): Promise<StoredReport[]>
  /** Those of these projects with reports that were received then (ms) or later. */
  reportedAmong(projectIds: readonly ProjectId[], since: number): Promise<ProjectId[]>
  /** Builds of the project with reports that were received then (ms) or later, the newest report first. */
  reportedBuilds(projectId: ProjectId, since: number, limit: number): Promise<ReportedBuild[]>
}

export interface ReportWrites {
  insertReport(report: Omit<StoredReport, 'id'> & { buildKey: string }): Promise<void>
  /** Gives the reports of one build (`project_id/build_id`) to another. */
  moveReports(from: string, to: string): Promise<void>
  removeReport(id: number): Promise<void>
  /** Removes reports of unknown builds that were received before then (ms). @returns how many */
  removeEarlyReports(receivedBefore: number, limit: number): Promise<number>
  /** Removes all but this many of the newest reports of unknown builds. Call it after each new one. */
  boundEarlyReports(kept: number): Promise<void>
}
