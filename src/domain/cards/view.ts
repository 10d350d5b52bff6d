import { percentDecoded } from '../../lib/escape.ts'
import { type MessageTs, type SourceName, shortId } from '../ids.ts'
import type { Count } from '../builds/figures.ts'
import type { BranchEnd, StreakChange, DoneByPeople, StreakExtent, Ownership } from '../builds/streak.ts'
import type { Capabilities } from './capabilities.ts'
import { type EndDetails, type Gate, mergeDetails, type BuildDetails, type BuildEvent } from '../builds/build-event.ts'
import type { Action } from './request.ts'
import { type AccountStatus, type Status, isAccountNotice, toStatus } from '../builds/status.ts'
import type { Failures } from '../builds/failure.ts'
import type { Attempt } from '../builds/attempt.ts'

// What a channel should show, independent of Slack's formats. Plain data, comparable by value.

/**
 * How an attempt is shown. `requested`: its source accepted our request, and has not shown that it runs. `fixed`: a
 * success that ended a red streak; `flaky`: a success after the commit failed.
 */
export type Shown = Exclude<Status, 'success'> | 'requested' | 'passed' | 'fixed' | 'flaky'

export interface CardView extends Capabilities {
  kind: 'card'
  shown: Shown
  /** CI's own word, for an `unknown` status */
  word: string
  build: BuildView
  /** 1 for the first attempt of the revision */
  attemptNumber: number
  /**
   * what happened to the newest attempt, and when (ms); `snapshot`: when CI was asked and showed the end; `late`: the
   * end, if we learned of it long after
   */
  history: readonly { what: 'started' | 'waiting' | 'ended' | 'late' | 'received' | 'snapshot'; at: number }[]
  durationMs: number | null
  /** how it ended, if the status does not say everything */
  end?: EndView
  /** what it waits for, if its source says so; at least one */
  gates?: readonly Gate[]
  /** the jobs that failed, if the source names them; at least one */
  failedJobs?: readonly string[]
  /** what failed, if a build step reported it or the source was asked */
  failures?: Failures
  /** the Slack user to mention; set only if the card was first posted red, so that no reply mentions them */
  mention: string | null
  /** see ReplyView; set only if the card was first posted red, so that no reply has the button */
  claim: string | null
  /** see ReplyView */
  proposed: string | null
  /** the red streak that this attempt ended or continues; null if it is the streak's first failed build */
  streak: StreakView | null
  /** the card that this one continues: the card before it, which is full, gone or can no longer be edited */
  replaces: MessageTs | null
  /** the attempt that the buttons act on, for `parseAttemptRef` */
  ref: string
  /** the last request to CI about this attempt */
  request: ShownRequest | null
  /**
   * who is on the branch: only on the channel's newest card of the streak, while the branch is red. `grown`: the whole
   * streak, if later builds failed that have no card in this channel
   */
  ownership?: Ownership & { grown?: StreakExtent }
}

export type EndView = Pick<EndDetails, 'how' | 'says'>

/** The extent of a streak when an attempt ended: instead of since when, for how long it had been red (ms). */
export type StreakView = Omit<StreakExtent, 'at'> & { forMs: number }

/** A request to CI as a card or line shows it. */
export interface ShownRequest {
  action: Action
  /** a Slack user */
  by: string
  stage: 'asked' | 'confirmed' | 'refused' | 'unclear' | 'unconfirmed'
  /** the reason if it was refused or is unclear: the kind of CI's answer */
  code: string | null
  /** the source, if it is not the CI service */
  source?: Exclude<SourceName, 'ci'>
  /** the environment or job that it is about; outside text */
  gate?: string
}

/** One line in the thread: a person's request to CI. */
export interface RequestView extends ShownRequest {
  kind: 'request'
  buildId: string
  /** the result, once the build events show it */
  outcome: { shown: Shown; buildId: string; attemptNumber: number } | null
}

/** One line in the thread: a person's change to the red branch. */
export interface NoteView extends Pick<StreakChange, 'by' | 'to' | 'until' | 'at'> {
  kind: 'note'
  what: DoneByPeople | BranchEnd
  /** for a `BranchEnd`: the branch that is gone */
  branch?: string | null
  /** the Slack user who was on it, if another person has taken it over */
  from?: string
}

/** One reply in the thread: the branch is red, and nobody is on it. */
export interface ReminderView extends Pick<BuildView, 'project' | 'branch'> {
  kind: 'reminder'
  /** for how long it had been red when this was posted (ms), and how many builds */
  forMs: number
  builds: number
  /** also sent to the channel */
  broadcast: boolean
}

export interface BuildView {
  project: string
  buildId: string
  /** the stream's name */
  branch: string | null
  /** the pull or merge request's address; left out if the build is of none */
  requestUrl?: string
  buildUrl: string | null
  commitUrl: string | null
  /** short form of the commit */
  commit: string | null
  message: string | null
  /** null if somebody started it from Slack */
  committer: string | null
  /** the Slack user who started it from Slack; left out: nobody did */
  requestedBy?: string
}

export interface ReplyView {
  kind: 'reply'
  shown: Shown
  /** see CardView */
  end?: EndView
  build: BuildView
  attemptNumber: number
  /** the card itself showed this end before it showed another attempt, so the reply has to name the attempt */
  isLate: boolean
  durationMs: number | null
  /** when the attempt ended (ms), if we learned of it long after */
  lateEnd?: number
  /** the Slack user to mention */
  mention: string | null
  /** the value of the committer's claim button; null: the name is claimed, not claimable, or the button is elsewhere */
  claim: string | null
  /** the Slack user who is asked whether the name is theirs; null: nobody in particular, any reader may claim it */
  proposed: string | null
  /** also sent to the channel */
  broadcast: boolean
  /** the newest attempt, if this one is no longer it and its reply was also sent to the channel */
  later?: { shown: Shown; attemptNumber: number }
  /** the red streak that this attempt ended */
  streak: StreakView | null
}

/** One reply in the thread: what failed in an attempt. */
export interface FailuresView extends Failures {
  kind: 'failures'
  attemptNumber: number
}

/** One notice per channel and day about builds that the account's limits kept from running: how many, by status. */
export interface NoticeView extends Record<AccountStatus, number> {
  kind: 'notice'
  /** `YYYY-MM-DD`, UTC */
  day: string
  /** the first builds of the day, at most NOTICE_BUILDS_MAX */
  builds: readonly (BuildView & { shown: AccountStatus })[]
}

/** A channel's builds in a day or a week. Lists have the worst first, and the number of further entries. */
export interface DigestView extends Count {
  kind: 'digest'
  /** whose builds: the project, or the owner of all projects; null: they have no common name */
  about: string | null
  every: 'day' | 'week'
  /** `2026-11-16`, in the channel's time zone */
  firstDay: string
  lastDay: string
  /** the digest starts here, since older builds are not kept (ms); null: all are */
  since: number | null
  /** the day or week before; null: no build of it is known */
  before: Count | null
  /** for the chart */
  days: readonly (Count & { day: string })[]
  red: Listed<{ forMs: number }>
  redNow: Listed<{
    since: StreakExtent | null
    /** who is on it, by name, since a digest mentions nobody; null: Slack does not say the name */
    onIt?: { name: string | null; since: number; until: number }
  }>
  flaky: Listed<{ commits: number; flaky: number; lostMs: number }>
  slower: Listed<{ beforeMs: number; nowMs: number }>
  /** Slack's id of the chart; null: there is none */
  picture: string | null
}

/** Branches by their project's name. */
export interface Listed<Figure> {
  shown: readonly (Figure & { project: string; branch: string })[]
  more: number
}

export type View = CardView | ReplyView | FailuresView | RequestView | NoticeView | DigestView | NoteView | ReminderView

export const NOTICE_BUILDS_MAX = 20

/** The build of an attempt. Details that its own events lack come from other events of the revision. */
export function buildView(attempt: Attempt, attempts: readonly Attempt[]): BuildView {
  const all = togetherOf(attempts)
  const shared = mergeDetails([all, attempt])
  const own: BuildDetails = attempt.details
  const commitId = firstOf('commitId', attempt.buildEvents) ?? all.commitId
  const { requestedBy } = shared
  const commitUrl = own.commitUrl ?? shared.commitUrl
  return {
    project: projectName({ ...shared, commitUrl }, attempt.buildEvents[0]!.projectId),
    buildId: own.number ?? shortId(attempt.buildId),
    branch: firstOf('branch', attempt.buildEvents) ?? all.branch,
    // All attempts of a build share one URL. An attempt that was found by asking CI does not have one.
    buildUrl: own.buildUrl ?? mergeDetails(attempts.filter(({ buildId }) => buildId === attempt.buildId)).buildUrl,
    commitUrl,
    commit: own.shortCommitId ?? shared.shortCommitId ?? commitId?.slice(0, 7) ?? null,
    message: own.message ?? shared.message,
    committer: requestedBy === null ? (own.committer ?? shared.committer) : null,
    ...(requestedBy !== null && { requestedBy }),
    ...(shared.requestUrl !== null && { requestUrl: shared.requestUrl }),
  }
}

interface Together {
  details: BuildDetails
  branch: string | null
  commitId: string | null
}

/** The merged details of a revision's attempts. Cached by list, since a thread shows each attempt of a long one. */
function togetherOf(attempts: readonly Attempt[]): Together {
  const known = TOGETHER.get(attempts)
  if (known) return known
  const buildEvents = attempts.flatMap((attempt) => attempt.buildEvents)
  const together = {
    details: mergeDetails(attempts),
    branch: firstOf('branch', buildEvents),
    commitId: firstOf('commitId', buildEvents),
  }
  TOGETHER.set(attempts, together)
  return together
}

const TOGETHER = new WeakMap<readonly Attempt[], Together>()

const firstOf = (name: 'branch' | 'commitId', buildEvents: readonly BuildEvent[]): string | null =>
  buildEvents.find((buildEvent) => buildEvent[name] !== null)?.[name] ?? null

/** A project's display name: its name, its full name, the path of its commits, or its number. */
export function projectName(
  {
    projectName: name,
    projectFullName,
    commitUrl,
  }: Pick<BuildDetails, 'projectName' | 'projectFullName' | 'commitUrl'>,
  projectId: string,
): string {
  return name ?? projectFullName ?? repositoryPath(commitUrl) ?? `project ${projectId}`
}

function repositoryPath(commitUrl: string | null): string | null {
  if (!commitUrl || !URL.canParse(commitUrl)) return null
  const path = /^\/(.+)\/commits?\//.exec(new URL(commitUrl).pathname)?.[1]
  return path === undefined ? null : percentDecoded(path.replace(/\/-$/, ''))
}

/** The day a notice belongs to: `YYYY-MM-DD`, UTC. */
export const noticeDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/**
 * The account notice of one day, from the attempts that were not built, in order of receipt.
 * @param counts how many attempts there are, by CI's word: `attempts` may be only the first of them
 */
export function noticeView(
  day: string,
  attempts: readonly Attempt[],
  counts: ReadonlyMap<string, number> = new Map(),
): NoticeView {
  const builds = attempts.flatMap((attempt) => {
    const shown = attempt.status
    return isAccountNotice(shown) ? { ...buildView(attempt, [attempt]), shown } : []
  })
  const countOf = (status: AccountStatus): number => {
    const counted = [...counts].reduce((sum, [word, count]) => (toStatus(word) === status ? sum + count : sum), 0)
    return Math.max(counted, builds.filter(({ shown }) => shown === status).length)
  }
  return {
    kind: 'notice',
    day,
    ignored: countOf('ignored'),
    blocked: countOf('blocked'),
    quota_exceeded: countOf('quota_exceeded'),
    builds: builds.slice(0, NOTICE_BUILDS_MAX),
  }
}
