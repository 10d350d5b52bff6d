import type { Author } from '../handle.ts'
import { digest, orderOf, type BuildId, type ProjectId, type Uuid } from '../ids.ts'
import { isFinal, toStatus, type Status } from './status.ts'

/**
 * The details of a build in one event, besides its status. Times are milliseconds since the epoch, as CI gave
 * them.
 */
export interface BuildDetails {
  projectName: string | null
  projectFullName: string | null
  buildUrl: string | null
  commitUrl: string | null
  shortCommitId: string | null
  message: string | null
  /**
   * whom the build is about: the commit's author or, depending on how the build was started, another person or nobody
   */
  committer: string | null
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  startedAt: number | null
  finishedAt: number | null
  /** how long it ran (ms), if the source counts that itself: without the time in which it only waited */
  durationMs: number | null
  /** the number that people see, if it is not the build's id */
  number: string | null
  /** which attempt of the build this is, if the source says so: 1 for the first */
  attempt: number | null
  /**
   * when the build last ended, as the source says (ms; 0: never); set if the source tells attempts apart by this and
   * not by a number: see `numbered`
   */
  lastEndAt: number | null
  /** the jobs that failed, if the source names them; at most `FAILED_JOBS_MAX`, and then there may be more */
  failedJobs: readonly string[] | null
  /** identifies the committer, if the source says who it is: helps to find the Slack user behind the name */
  author: Author | null
  /** the pull or merge request that the build is of */
  requestUrl: string | null
  /** more about how it ended, if the source says more than a word */
  end: EndDetails | null
  /** `with-warnings`: who manually started the job that was allowed to fail, if that is one person */
  startedBy: string | null
  /** the Slack user who started it from Slack; the source knows only the bot's account */
  requestedBy: string | null
  /** what it waits for, if its source was asked while it waited; at most `GATES_MAX` */
  gates: readonly Gate[] | null
}

/** What a waiting build waits for: a person has to let it through. */
export interface Gate {
  /** `environment`: a deployment to it. `run`: the whole run, before it begins. `job`: a manual job. */
  kind: 'environment' | 'run' | 'job'
  /** the source's id of the environment or job; of the run itself: `run` */
  id: string
  name: string
  /** who may let it through, as the source names them: `@ada`, `team/ops`; empty: it names nobody */
  reviewers: readonly string[]
  /** whether the source lets the owner of our token do it */
  isOurs: boolean
  /** when its wait timer ends (ms); null: it has none */
  until: number | null
  /** GitLab: the approval rule (a person, group or role) by which our token may approve, by its name */
  as?: string
}

/** Slack's menus have as many options. */
export const GATES_MAX = 100

/** How a build ended, according to its jobs. */
export interface EndDetails {
  /** the source was asked after the end: its answer is final, and it is not asked again */
  isWhole: boolean
  /**
   * `then-cancelled`: it failed before it was cancelled. `timed-out`: a job ran over its time limit. `invalid`: its
   * configuration cannot be used, so a restart cannot help. `with-warnings`: it passed, but jobs that may fail did.
   */
  how: 'then-cancelled' | 'timed-out' | 'invalid' | 'with-warnings' | null
  /** `with-warnings`: these jobs, as far as known; `invalid`: the first line of the source's message */
  says: readonly string[]
}

/** Names of failed jobs that are kept. A card shows fewer. */
export const FAILED_JOBS_MAX = 20

/** A build event as received: a build's state in a delivery or an answer of CI. */
export interface ReceivedEvent {
  projectId: ProjectId
  buildId: BuildId
  /** the stream's name, such as `main` or `main · nightly`: see `streamOf` */
  branch: string | null
  commitId: string | null
  /** CI's own word for the status */
  rawStatus: string
  details: BuildDetails
}

export interface BuildEvent extends ReceivedEvent {
  /** the order of receipt */
  seq: number
  /** when it was received (ms) */
  at: number
  status: Status
  origin: Origin
  /** its build's place among those of the project: see `orderOf` */
  buildOrder: string
  revisionKey: string
  /** the card of the revision that shows it; null until it has one */
  cardNumber: number | null
  /** false: the sender of its delivery may not have received our answer, and may repeat it */
  isAcknowledged: boolean
  /** it finishes a build, and not a past attempt that another one followed */
  isOutcome: boolean
}

/**
 * All builds and attempts of one commit on one branch share this key. A build without a commit has its own key.
 */
export function revisionKey({ projectId, branch, commitId, buildId }: ReceivedEvent): string {
  const parts = commitId === null ? ['build', buildId] : ['commit', commitId.toLowerCase()]
  return digest([projectId, branch, ...parts])
}

export interface Recorded {
  answer: 'recorded' | 'duplicate'
  /** the build event that was stored, or that is repeated */
  eventSeq: number
  revisionKey: string
}

/**
 * Where a build event comes from. `delivery`: CI delivered it. `poll`: CI showed it when it was asked. `history`: as
 * `poll`, but it is not news: commands know it, and no message is sent. `action`: CI accepted our own request.
 */
export type Origin = 'delivery' | 'poll' | 'action' | 'history'

/** A build that is found by asking CI is not news if it ended longer ago than this (ms). */
export const NEWS_MS = 24 * 60 * 60_000

/** The earliest time (ms) at which a build existed, by its first build event. Ignores times of 0 or less. */
export const beganBy = ({ startedAt, finishedAt }: BuildDetails, receivedAt: number): number =>
  Math.min(receivedAt, ...[startedAt, finishedAt].filter((time) => time !== null).filter((time) => time > 0))

/** A source's clock may be ahead of ours by this much. */
const AHEAD_MAX_MS = 5 * 60_000

/**
 * The details without impossible times, so that the time of receipt counts instead: times of 0 or less, such as
 * Go's zero time, and an end before its start. If one time is clearly after the receipt, the source's clock is wrong,
 * and neither counts.
 */
export function withCredibleTimes<Details extends Pick<BuildDetails, 'startedAt' | 'finishedAt'>>(
  details: Details,
  receivedAt: number,
): Details {
  const [start, end] = [details.startedAt ?? 0, details.finishedAt ?? 0]
  const isAhead = Math.max(start, end) > receivedAt + AHEAD_MAX_MS
  const startedAt = start > 0 && !isAhead ? start : null
  return { ...details, startedAt, finishedAt: end > 0 && end >= (startedAt ?? 0) && !isAhead ? end : null }
}

/** A build event as it would be stored, before it has a card. */
export const toBuildEvent = (
  received: ReceivedEvent,
  seq: number,
  at: number,
  origin: Origin = 'delivery',
): BuildEvent => ({
  ...received,
  details: withCredibleTimes(received.details, at),
  seq,
  at,
  origin,
  status: toStatus(received.rawStatus),
  buildOrder: orderOf(received.buildId, beganBy(received.details, at)),
  revisionKey: revisionKey(received),
  cardNumber: null,
  isAcknowledged: false,
  isOutcome: false,
})

/** The first line of a commit's message that is not blank: only this line is stored. */
export const commitTitle = (message: string | null): string | null =>
  message
    ?.split(/[\r\n\u2028\u2029]/)
    .find((line) => line.trim() !== '')
    ?.trim() ?? null

export const isFinalEvent = (buildEvent: BuildEvent): boolean => isFinal(buildEvent.status)

/**
 * The newest known value of each detail: an event without a field keeps the field's earlier value. For details that
 * identify the build, the first value counts: people act on what they saw, whatever is delivered later.
 */
export const mergeDetails = (buildEvents: readonly Pick<ReceivedEvent, 'details'>[]): BuildDetails =>
  buildEvents.reduce((merged, { details }) => over(merged, details), NO_DETAILS)

// Written out field by field: this runs for each event of each fold, and a loop over names takes twenty times as long.
const over = (older: BuildDetails, newer: BuildDetails): BuildDetails => ({
  projectName: older.projectName ?? newer.projectName,
  projectFullName: older.projectFullName ?? newer.projectFullName,
  buildUrl: newer.buildUrl ?? older.buildUrl,
  commitUrl: newer.commitUrl ?? older.commitUrl,
  shortCommitId: older.shortCommitId ?? newer.shortCommitId,
  message: newer.message ?? older.message,
  committer: newer.committer ?? older.committer,
  projectUuid: older.projectUuid ?? newer.projectUuid,
  buildUuid: older.buildUuid ?? newer.buildUuid,
  startedAt: newer.startedAt ?? older.startedAt,
  finishedAt: newer.finishedAt ?? older.finishedAt,
  // Events that were stored before these fields existed lack them.
  durationMs: newer.durationMs ?? older.durationMs ?? null,
  number: older.number ?? newer.number ?? null,
  attempt: newer.attempt ?? older.attempt ?? null,
  lastEndAt: newer.lastEndAt ?? older.lastEndAt ?? null,
  failedJobs: newer.failedJobs ?? older.failedJobs ?? null,
  author: newer.author ?? older.author ?? null,
  requestUrl: newer.requestUrl ?? older.requestUrl ?? null,
  end: (older.end?.isWhole && !newer.end?.isWhole ? older.end : newer.end) ?? older.end ?? null,
  startedBy: newer.startedBy ?? older.startedBy ?? null,
  requestedBy: older.requestedBy ?? newer.requestedBy ?? null,
  gates: newer.gates ?? older.gates ?? null,
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
  durationMs: null,
  number: null,
  attempt: null,
  lastEndAt: null,
  failedJobs: null,
  author: null,
  requestUrl: null,
  end: null,
  startedBy: null,
  requestedBy: null,
  gates: null,
}
