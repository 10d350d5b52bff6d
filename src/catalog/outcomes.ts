import type { RedSince, ShownBreakage } from '../domain/breakage.ts'
import type { Missing } from '../domain/offer.ts'
import type { BuildId, ChannelId, MessageTs, Uuid } from '../domain/ids.ts'
import type { Permit, Right } from '../domain/permission.ts'
import type { ProjectRef } from '../domain/project-names.ts'
import type { Action, Request, RequestState, AttemptRef } from '../domain/request.ts'
import type { Looked, Selectable } from '../domain/rule.ts'
import type { FailedTests } from '../domain/test-report.ts'
import type { BuildView, Shown } from '../domain/view.ts'
import { CiError } from '../sources/http/errors.ts'

export type { ProjectRef }

// What people ask for, and how it can end. Every door asks with these words, and puts these endings into words of its own.

/** Who asks, from where, and what Slack calls this one request. */
export interface Requester {
  /** a Slack user */
  user: string
  team: string | null
  /** where it was asked and the answer is seen; null: in no channel */
  channel: ChannelId | null
  via: Request['via']
  /** a trigger or event id: the same request twice is one request */
  interactionKey: string
}

/** May this person do that? Where Slack does not say who they are, they may not. */
export type Permits = (
  right: Right,
  by: Pick<Requester, 'user' | 'team'>,
) => Promise<Permit | { kind: 'unknown-person'; code: string }>

/** What a question or an action is about. */
export type Target =
  | { kind: 'run'; ref: AttemptRef }
  /** the build of a card or of its thread */
  | { kind: 'message'; channel: ChannelId; ts: MessageTs }
  | { kind: 'build-number'; number: string; project: string | null }
  | { kind: 'build-url'; url: string }
  /** a project's or a build's */
  | { kind: 'uuid'; uuid: Uuid }
  | { kind: 'project'; project: string; branch: string | null }

/** A build as answers show it. */
export interface BuildSummary extends BuildView {
  ref: AttemptRef
  shown: Shown
  /** CI's own word */
  word: string
  attemptNumber: number
  /** when the newest build event of the attempt was received, or, where CI was asked, when it says that it happened (ms) */
  at: number
  /** the tests that failed, where a build step reported them */
  failedTests?: FailedTests
  /** null: its branch is not red */
  redSince: RedSince | null
  /** who is on its branch, when that is red because builds of it failed */
  breakage?: ShownBreakage
  /** the buttons that can work now, and why one is not there */
  offers: readonly Action[]
  missing: { action: Action; why: Missing } | null
  /** what Stop would stop, where CI cannot be asked whether it is this build; null: it can, or nothing can be stopped */
  unconfirmed: Uuid | null
}

/** What was asked about could not be told. */
export type NotFound =
  /** `isListRead`: false while CI's list has never been read whole, so that the project may be there all the same */
  | { kind: 'no-project'; text: string; nearest: string | null; isListRead: boolean }
  /** more than one answers to that name; at most PROJECT_CHOICES_MAX of them */
  | { kind: 'several-projects'; text: string; projects: readonly ProjectRef[]; more: number }
  | { kind: 'several-builds'; text: string; builds: readonly BuildSummary[] }
  /** the project is known, and no build of it (or of that branch) */
  | { kind: 'no-build'; project: string; branch: string | null; nearest: string | null }
  /** no such number, address or uuid */
  | { kind: 'unknown-build'; text: string }
  /** the message is no card of ours, nor in the thread of one */
  | { kind: 'no-card' }

export const PROJECT_CHOICES_MAX = 5

/** What somebody may not do that is none of the actions on a build. */
export type WantedRight =
  | Extract<Right, 'subscribe' | 'own' | 'administer'>
  /** a committer's name for oneself */
  | 'claim'
  /** a committer's name to another person */
  | 'give'

/** The requester may not. */
export type Refused =
  | { kind: 'forbidden'; action: Action | WantedRight; permit: Extract<Permit, { kind: 'no' }> }
  /** Slack did not say who the requester is */
  | { kind: 'unknown-person'; code: string }

/** CI could not be asked, or answered with an error; nothing was done. `code`: CiError's kind. */
export interface CiTrouble {
  kind: 'ci-trouble'
  code: string
  /** CI's own words, cleaned; outside text */
  reason: string | null
}

/** How a request to stop or restart ended. */
export type ActOutcome =
  /** CI took it */
  | { kind: 'requested'; action: Action; build: BuildSummary; newBuildId: BuildId | null }
  /** somebody asked the same before, and it is under way */
  | { kind: 'asked-already'; action: Action; build: BuildSummary; by: string; at: number; state: RequestState }
  /** this very ask was answered before */
  | { kind: 'repeated'; action: Action; state: RequestState }
  /** its state does not call for it: it has ended already, or runs still */
  | { kind: 'not-now'; action: Action; build: BuildSummary }
  | { kind: 'impossible'; action: Action; why: Missing; build: BuildSummary }
  /** CI lists no such build of that project and branch */
  | { kind: 'not-confirmed'; action: Action; build: BuildSummary }
  /** CI cannot be asked which build that is: the button's dialog says it, and has to be pressed */
  | { kind: 'to-confirm'; action: Action; build: BuildSummary }
  /** CI has surely done nothing */
  | { kind: 'ci-refused'; action: Action; code: string; reason: string | null; build: BuildSummary }
  /** CI may have done it; it is being looked up, and never simply asked again */
  | { kind: 'unclear'; action: Action; code: string; build: BuildSummary }
  | CiTrouble
  | NotFound
  | Refused

/** What runs now in the projects that a channel follows. */
export interface RunningOutcome {
  kind: 'running'
  builds: readonly BuildSummary[]
  /** further ones that are not listed */
  more: number
}

export interface ListQuestion {
  text: string | null
  type: 'basic' | 'pro' | null
  /** from 1 */
  page: number
}

export type ListOutcome =
  | {
      kind: 'projects'
      question: ListQuestion
      projects: readonly { project: ProjectRef; build: BuildSummary | null }[]
      page: number
      pages: number
      total: number
      /** which interface the list is from */
      from: 'v2' | 'legacy' | null
      /** set where CI could not be asked now: how old the list is (ms), and why */
      stale: { readAt: number; trouble: CiTrouble } | null
      /** false: CI gave it only in part, or not at all, so a project may be missing */
      isWhole: boolean
    }
  | { kind: 'no-ci' }
  | CiTrouble

export type StatusOutcome =
  | { kind: 'status'; project: ProjectRef; branch: string | null; builds: readonly BuildSummary[] }
  /** without a project: what the channel's projects do */
  | { kind: 'channel-status'; builds: readonly BuildSummary[]; more: number }
  | NotFound

export type BadgeOutcome =
  | {
      kind: 'badge'
      project: ProjectRef
      branch: string | null
      /** what the picture says, else what the last build says; outside text */
      words: string | null
      /** what could be told from the picture */
      found: 'yes' | 'no-project' | 'no-branch' | 'unknown'
      url: string
      markdown: string
      html: string
      /** PNG, or GIF or JPEG as CI drew it (0 × 0: size not known); null where there is none that Slack can show */
      picture: { png: Uint8Array; width: number; height: number } | null
      trouble: CiTrouble | null
    }
  | { kind: 'no-site' }
  | { kind: 'no-uuid'; project: ProjectRef }
  | NotFound

/** A rule as it was looked at then: of another version the verdict can be another word. */
export type KeptLook = Omit<Looked, 'verdict'> & { verdict: string }

/** Why one build event was posted in one channel, or was not. */
export interface Explained {
  channel: ChannelId
  word: string
  /** when the build event was received (ms) */
  at: number
  /** as CI named it in this build event */
  branch: string | null
  /** what rules could select of this build event */
  events: readonly Selectable[]
  verdict: 'tell' | 'update' | 'silent'
  reason: string
  rulesFrom: 'ci' | 'channel' | 'nobody'
  /** the rules in their order, at most LOOKED_MAX */
  looked: readonly KeptLook[]
  /** what stands in this channel about the build event: the card, the reply of its attempt, or the account's notice of the day */
  posted: readonly Posted[]
}

/** `slot`: `card`, `run:<build>.<n>` or `notice`. `waiting`: not yet there, or not known to be. */
export interface Posted {
  slot: string
  state: 'posted' | 'waiting' | 'gone'
  ts: MessageTs | null
  /** when it was last written (ms) */
  at: number | null
  /** it was also sent to the channel */
  broadcast: boolean
}

export type WhyOutcome =
  | {
      kind: 'why'
      build: BuildSummary
      decisions: readonly Explained[]
      more: number
      /** how many channels are left out, because the requester cannot see them */
      hidden: number
    }
  | NotFound

/** A question that CI did not answer. Throws on what is no answer of CI's. */
export function troubleOf(error: unknown): CiTrouble {
  if (!(error instanceof CiError)) throw error
  return { kind: 'ci-trouble', code: error.kind, reason: error.reason ?? null }
}
