import type { MessageTs, SourceName, Uuid } from './ids.ts'
import type { Count } from './figures.ts'
import type { BreakageChange, DoneByPeople, RedSince, ShownBreakage } from './breakage.ts'
import type { Missing } from './offer.ts'
import type { Action } from './request.ts'
import type { Status } from './status.ts'
import type { FailedTests } from './test-report.ts'

// What a channel should see, in words of the product and without a word of Slack. Pure, and comparable by value.

/** How an attempt is shown: a status. `fixed`: a success that ended a red streak; `flaky`: the same commit had failed before. */
export type Shown = Exclude<Status, 'success'> | 'passed' | 'fixed' | 'flaky'

export interface CardView {
  kind: 'card'
  shown: Shown
  /** CI's own word, for an `unknown` one */
  word: string
  build: BuildView
  /** 1 for the first attempt of the revision */
  attemptNumber: number
  /**
   * what happened to the newest attempt, and when (ms); `snapshot`: CI told of the end only when it was asked; `late`: the
   * end, where that was long before
   */
  history: readonly { what: 'started' | 'waiting' | 'ended' | 'late' | 'received' | 'snapshot'; at: number }[]
  durationMs: number | null
  /** the jobs that failed, where the source names them; at least one */
  failedJobs?: readonly string[]
  /** the tests that failed, where a build step reported them */
  failedTests?: FailedTests
  /** set when the card itself has to tell the committer: it was born red */
  mention: string | null
  /** the same as of a reply, when the card itself has to offer it: it was born red */
  claim: string | null
  /** the same as of a reply */
  proposed: string | null
  /** the red streak that this attempt ended, or goes on with; null for the first red one */
  streak: Streak | null
  /** the card that this one goes on from: the one before it, which has ended, is gone or can no longer be edited */
  replaces: MessageTs | null
  /** the attempt that the buttons are about, as `parseAttemptRef` reads it */
  ref: string
  /** the buttons that can work now */
  offers: readonly Action[]
  /** why the button that the state calls for is not there */
  missing: { action: Action; why: Missing } | null
  /** the uuid of the build that Stop would stop, where CI cannot be asked whether it is this one */
  unconfirmed: Uuid | null
  /** who last asked something of CI about this attempt */
  request: ShownRequest | null
  /**
   * who is on the branch: on the channel's newest card of the streak, while the branch is red. `grown`: the whole streak, where
   * later builds failed that have no card in this channel
   */
  breakage?: ShownBreakage & { grown?: RedSince }
}

/** How long a branch was red when an attempt ended (ms), and how many builds were. `atLeast`: longer than what is kept. */
export interface Streak {
  forMs: number
  builds: number
  atLeast: boolean
}

/** What somebody asked of CI, and how far that has come. */
export interface ShownRequest {
  action: Action
  /** a Slack user */
  by: string
  stage: 'asked' | 'confirmed' | 'refused' | 'unclear' | 'unconfirmed'
  /** why, where it was refused or is unclear: CI's kind of answer */
  code: string | null
  /** who was asked, where it was not the CI service */
  source?: Exclude<SourceName, 'ci'>
}

/** One line in the thread: somebody asked something of CI. */
export interface RequestView extends ShownRequest {
  kind: 'request'
  buildId: string
  /** what came of it, once the build events show it */
  outcome: { shown: Shown; buildId: string; attemptNumber: number } | null
}

/** One line in the thread: somebody did something about the red branch. */
export interface NoteView extends Pick<BreakageChange, 'by' | 'to' | 'until' | 'at'> {
  kind: 'note'
  what: DoneByPeople
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
  branch: string | null
  buildUrl: string | null
  commitUrl: string | null
  /** short form of the commit */
  commit: string | null
  message: string | null
  committer: string | null
}

export interface ReplyView {
  kind: 'reply'
  shown: Shown
  build: BuildView
  attemptNumber: number
  /** told only when another attempt had taken the card that was born with it: what it is about has to be said */
  isLate: boolean
  durationMs: number | null
  /** when the attempt ended (ms), where CI told of it long after, and only when it was asked */
  lateEnd?: number
  /** the Slack user to mention */
  mention: string | null
  /** what the button carries by which the committer claims their name; null: it is claimed, or offered elsewhere, or cannot be */
  claim: string | null
  /** the Slack user who is asked whether the name is theirs; null: whoever reads it may claim it */
  proposed: string | null
  /** also sent to the channel */
  broadcast: boolean
  /** the red streak that this attempt ended */
  streak: Streak | null
}

/** One reply in the thread: which tests of an attempt failed. */
export interface TestsView extends FailedTests {
  kind: 'tests'
  attemptNumber: number
}

/** One notice per channel and day about builds that the account's limits kept from running. */
export interface NoticeView {
  kind: 'notice'
  /** `YYYY-MM-DD`, UTC */
  day: string
  ignored: number
  blocked: number
  /** the first builds of the day, at most NOTICE_BUILDS_MAX */
  builds: readonly (BuildView & { shown: 'ignored' | 'blocked' })[]
}

/** What a channel's builds came to in a day or a week. Lists hold the worst first, and how many more there are. */
export interface DigestView extends Count {
  kind: 'digest'
  /** whose builds: a project, or the owner of all of them; null: there is no one name */
  about: string | null
  every: 'day' | 'week'
  /** `2026-11-16`, in the channel's time zone */
  firstDay: string
  lastDay: string
  /** what is older is not kept (ms); null: all of it is */
  since: number | null
  /** the day or the week before; null: nothing is known of it */
  before: Count | null
  /** for the chart */
  days: readonly (Count & { day: string })[]
  red: Listed<{ forMs: number }>
  redNow: Listed<{
    since: RedSince | null
    /** who is on it, by name: a digest mentions nobody; null: Slack does not say the name */
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

export type View = CardView | ReplyView | TestsView | RequestView | NoticeView | DigestView | NoteView | ReminderView

export const NOTICE_BUILDS_MAX = 20
