import type { Author } from './author.ts'
import { orderOf, type BuildId, type ProjectId, type Uuid } from './ids.ts'
import { isFinal, toStatus, type Status } from './status.ts'

/** What one observation says of a build beyond its status. Times are milliseconds since the epoch, as CI gave them. */
export interface BuildDetails {
  projectName: string | null
  projectFullName: string | null
  buildUrl: string | null
  commitUrl: string | null
  shortCommitId: string | null
  message: string | null
  committer: string | null
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  startedAt: number | null
  finishedAt: number | null
  /** the number that people see, where it is not the build's id */
  number: string | null
  /** which attempt of the build this is, where the source says so: 1 for the first */
  attempt: number | null
  /**
   * when the build last ended, as far as the source knew (ms; 0: never), where that tells its attempts apart instead of a
   * number: see `numbered`
   */
  lastEndAt: number | null
  /** the jobs that failed, where the source names them */
  failedJobs: readonly string[] | null
  /** who wrote the commit, where the source says so, for finding whose the committer's name is */
  author: Author | null
}

/** One observation as an endpoint reads it, before it has a place in the order of things. */
export interface Observation {
  projectId: ProjectId
  buildId: BuildId
  branch: string | null
  commitId: string | null
  /** CI's own word for the status */
  word: string
  details: BuildDetails
}

/** An observation that is stored: `seq` is the order of receipt, `at` when we received it (ms). */
export interface BuildEvent extends Observation {
  seq: number
  at: number
  status: Status
  origin: Origin
  /** its build's place among those of the project: see `orderOf` */
  buildOrder: string
}

/** What became of a delivery that was stored. */
export interface Recorded {
  answer: 'recorded' | 'duplicate'
  deliveryId: number
  eventSeq: number
  revisionKey: string
}

/**
 * Where a build event comes from: CI delivered it, CI showed it when it was asked (`poll`), or CI answered our own request
 * (`action`). `history`: CI showed it when it was asked, and it was no news: commands know it, and nobody is told.
 */
export type Origin = 'delivery' | 'poll' | 'action' | 'history'

/** What ended longer ago than this (ms) when it was found by asking is no news. */
export const NEWS_MS = 24 * 60 * 60_000

/** The earliest time (ms) at which a build was there, as far as its first build event says. 0 or less is no time. */
export const beganBy = ({ startedAt, finishedAt }: BuildDetails, receivedAt: number): number =>
  Math.min(receivedAt, ...[startedAt, finishedAt].filter((time) => time !== null).filter((time) => time > 0))

export const toBuildEvent = (seen: Observation, seq: number, at: number, origin: Origin = 'delivery'): BuildEvent => ({
  ...seen,
  seq,
  at,
  origin,
  status: toStatus(seen.word),
  buildOrder: orderOf(seen.buildId, beganBy(seen.details, at)),
})

/** Of a commit's message a detail holds the first line that is not blank. */
export const firstLine = (message: string | null): string | null =>
  message
    ?.split(/[\r\n\u2028\u2029]/)
    .find((line) => line.trim() !== '')
    ?.trim() ?? null

export const isFinalEvent = (buildEvent: BuildEvent): boolean => isFinal(buildEvent.status)

/**
 * The newest known value of each detail; of a field that was only sometimes sent, the last one that was. The uuids are the
 * first that were said: they never change, and a later delivery that says otherwise must not redirect a Stop.
 */
export const mergeDetails = (buildEvents: readonly Pick<Observation, 'details'>[]): BuildDetails =>
  buildEvents.reduce((merged, { details }) => over(merged, details), NO_DETAILS)

// Each by its name: this is done for every build event whenever it is folded, and a loop over names takes twenty times as long.
const over = (older: BuildDetails, newer: BuildDetails): BuildDetails => ({
  projectName: newer.projectName ?? older.projectName,
  projectFullName: newer.projectFullName ?? older.projectFullName,
  buildUrl: newer.buildUrl ?? older.buildUrl,
  commitUrl: newer.commitUrl ?? older.commitUrl,
  shortCommitId: newer.shortCommitId ?? older.shortCommitId,
  message: newer.message ?? older.message,
  committer: newer.committer ?? older.committer,
  projectUuid: older.projectUuid ?? newer.projectUuid,
  buildUuid: older.buildUuid ?? newer.buildUuid,
  startedAt: newer.startedAt ?? older.startedAt,
  finishedAt: newer.finishedAt ?? older.finishedAt,
  // What was stored before these fields existed has none of them.
  number: newer.number ?? older.number ?? null,
  attempt: newer.attempt ?? older.attempt ?? null,
  lastEndAt: newer.lastEndAt ?? older.lastEndAt ?? null,
  failedJobs: newer.failedJobs ?? older.failedJobs ?? null,
  author: newer.author ?? older.author ?? null,
})

export const NO_DETAILS: BuildDetails = {
  projectName: null,
  projectFullName: null,
  buildUrl: null,
  commitUrl: null,
  shortCommitId: null,
  message: null,
  committer: null,
  projectUuid: null,
  buildUuid: null,
  startedAt: null,
  finishedAt: null,
  number: null,
  attempt: null,
  lastEndAt: null,
  failedJobs: null,
  author: null,
}
