import type { RedSince, ShownBreakage } from '../domain/builds/breakage.ts'
import type { BuildEvent } from '../domain/builds/build-event.ts'
import type { Missing } from '../domain/cards/offer.ts'
import type { BuildId, ChannelId, MessageTs, SourceName, Uuid } from '../domain/ids.ts'
import type { Permit, Right } from '../slack/api/permission.ts'
import type { ProjectRef } from '../domain/ci-project/project-names.ts'
import type { Action, Request, RequestState, AttemptRef } from '../domain/cards/request.ts'
import type { RuleResult, Selectable } from '../domain/rules/rule.ts'
import type { BuildView, CardView } from '../domain/cards/view.ts'
import { CiError } from '../sources/http/errors.ts'
import type { StoredDecision } from '../store/records.ts'

export type { ProjectRef }

// People's requests and their possible outcomes. Commands, buttons, forms and mentions all use these types.

/** Who makes a request, where, and Slack's id of it. */
export interface Requester {
  /** a Slack user */
  user: string
  team: string | null
  /** where the request was made and the answer is shown; null: in no channel */
  channel: ChannelId | null
  via: Request['via']
  /** Slack's trigger or event id: requests with the same id are one request */
  interactionKey: string
}

/** Whether this person may do that. If Slack does not say who they are, they may not. */
export type Permits = (
  right: Right,
  by: Pick<Requester, 'user' | 'team'>,
) => Promise<Permit | { kind: 'unknown-person'; code: string }>

/** The subject of a question or an action. */
export type Target =
  | { kind: 'run'; ref: AttemptRef }
  /** the build of a card or of its thread */
  | { kind: 'message'; channel: ChannelId; ts: MessageTs }
  /** `#512`, or `acme/web #512`, as cards write it: decimal digits, or the first eight of a uuid */
  | { kind: 'build-number'; number: string; project: string | null }
  | { kind: 'build-url'; url: string }
  /** of a project or of a build: a uuid does not show which */
  | { kind: 'uuid'; uuid: Uuid }
  /** a name, a part of one, a legacy id, or a uuid with a branch after it */
  | { kind: 'project'; project: string; branch: string | null }

/** A build as answers show it: the attempt as a card would show it, and its branch. */
export interface BuildSummary
  extends
    BuildView,
    Pick<CardView, 'shown' | 'word' | 'attemptNumber' | 'failedTests' | 'offers' | 'missing' | 'unconfirmed'> {
  ref: AttemptRef
  /** when the attempt's newest build event was received (ms); if CI was asked, the time that CI gave */
  at: number
  /** null: its branch is not red */
  redSince: RedSince | null
  /** who is on its branch, if that is red because builds failed (not only CI machine errors) */
  breakage?: ShownBreakage
}

/** It is not clear which project or build is meant. */
export type NotFound =
  /** `isListRead`: false if CI's list was never read completely, so the project may exist */
  | { kind: 'no-project'; text: string; nearest: string | null; isListRead: boolean }
  /** several projects match; at most CHOICES_MAX of them are listed, and SEARCHED_MAX are counted */
  | { kind: 'several-projects'; text: string; projects: readonly ProjectRef[]; more: number }
  /** at most CHOICES_MAX */
  | { kind: 'several-builds'; text: string; builds: readonly BuildSummary[] }
  /** the project is known, but no build of it (or of that branch) is */
  | { kind: 'no-build'; project: string; branch: string | null; nearest: string | null }
  /** no build has this number, URL or uuid */
  | { kind: 'unknown-build'; text: string }
  /** the address is not of a configured source's pages, and no build has it as its link */
  | { kind: 'unknown-address'; text: string }
  /** the message is neither one of our cards nor in the thread of one */
  | { kind: 'no-card' }

export type ProjectNotFound = Extract<NotFound, { kind: 'no-project' | 'several-projects' }>

/** What a person may be forbidden, besides the actions on a build. */
export type RefusableRight =
  | Extract<Right, 'subscribe' | 'own' | 'administer'>
  /** to start a build by hand */
  | 'run'
  /** to claim a committer's name for oneself */
  | 'claim'
  /** to give a committer's name to another person */
  | 'give'

/** The requester does not have the right. */
export type Refused =
  | { kind: 'forbidden'; action: Action | RefusableRight; permit: Extract<Permit, { kind: 'no' }> }
  /** Slack did not say who the requester is */
  | { kind: 'unknown-person'; code: string }

/** Why this person may not do that; null: they may. */
export async function refusalOf(
  permits: Permits,
  right: Right,
  by: Pick<Requester, 'user' | 'team'>,
  action: Action | RefusableRight,
): Promise<Refused | null> {
  const permit = await permits(right, by)
  if (permit.kind === 'yes') return null
  return permit.kind === 'no' ? { kind: 'forbidden', action, permit } : permit
}

/** CI could not be reached or answered with an error; nothing was done. `code`: the kind of the CiError. */
export interface CiFailure {
  kind: 'ci-trouble'
  code: string
  /** CI's own words, cleaned; outside text */
  reason: string | null
  /** left out: the CI service */
  source?: SourceName
}

/** How the source shows a build whose project has another name there; outside text. `url`: null if it gives none. */
export interface ShownAs {
  project: string
  url: string | null
}

/** How a request to stop or restart ended. */
export type ActionOutcome =
  /** CI accepted it */
  | { kind: 'requested'; action: Action; build: BuildSummary; newBuildId: BuildId | null }
  /** an earlier request for the same is still open */
  | { kind: 'asked-already'; action: Action; build: BuildSummary; by: string; at: number; state: RequestState }
  /** Slack sent this request before, and it was answered then */
  | { kind: 'repeated'; action: Action; state: RequestState }
  /** the action does not fit the build's state: it has ended already, or still runs */
  | { kind: 'not-now'; action: Action; build: BuildSummary }
  | { kind: 'impossible'; action: Action; why: Missing; build: BuildSummary }
  /** CI does not list this build for that project and branch */
  | { kind: 'not-confirmed'; action: Action; build: BuildSummary; shown: ShownAs | null }
  /** CI cannot confirm which build that is: the person has to press the button, whose dialog names the build */
  | { kind: 'to-confirm'; action: Action; build: BuildSummary }
  /** CI has certainly done nothing */
  | { kind: 'ci-refused'; action: Action; code: string; reason: string | null; build: BuildSummary }
  /** CI may have done it: the bot reads CI to find out, and never repeats the call */
  | { kind: 'unclear'; action: Action; code: string; build: BuildSummary }
  | CiFailure
  | NotFound
  | Refused

/** The builds that run now. */
export interface RunningOutcome {
  kind: 'running'
  where: Where
  builds: readonly BuildSummary[]
  /** how many further builds are not listed */
  more: number
}

export interface ListQuery {
  text: string | null
  type: 'basic' | 'pro' | null
  /** from 1 */
  page: number
}

export type ListOutcome =
  | {
      kind: 'projects'
      query: ListQuery
      projects: readonly { project: ProjectRef; build: BuildSummary | null }[]
      page: number
      pages: number
      total: number
      /** which interface the list is from */
      from: 'v2' | 'legacy' | null
      /** set if CI could not be read now: when the list was read (ms), and why CI could not */
      stale: { readAt: number; failure: CiFailure } | null
      /** false: CI gave only a part of the list, or nothing, so projects may be missing */
      isWhole: boolean
    }
  | { kind: 'no-ci' }
  | CiFailure

/** The projects that a channel follows, or all: it follows none, or there is no channel. */
export type Where = 'channel' | 'everywhere'

export type StatusOutcome =
  /** the last builds of one branch, or one build */
  | { kind: 'status'; project: ProjectRef; branch: string | null; builds: readonly BuildSummary[] }
  | ({ kind: 'project-status'; project: ProjectRef } & NewestBuilds)
  /** if no project was named */
  | ({ kind: 'channel-status'; where: Where } & NewestBuilds)
  | NotFound

/** The last build of each branch, or of each project; those of red branches first. */
export interface NewestBuilds {
  builds: readonly BuildSummary[]
  /** how many further builds are not listed */
  more: number
  /** how many branches are red, listed or not */
  red: number
}

export type BadgeOutcome =
  | {
      kind: 'badge'
      project: ProjectRef
      branch: string | null
      /** what the badge says, else the state of the last build; outside text */
      words: string | null
      /** what the badge shows about the project and branch */
      found: 'yes' | 'no-project' | 'no-branch' | 'unknown'
      url: string
      markdown: string
      html: string
      /** PNG, GIF or JPEG; null if there is none that Slack can show */
      picture: Uint8Array | null
      failure: CiFailure | null
    }
  | { kind: 'no-site' }
  | { kind: 'no-uuid'; project: ProjectRef }
  | NotFound

/** A rule and its verdict as they were stored. Another version of the bot may have stored other verdicts. */
export type StoredRuleResult = Omit<RuleResult, 'verdict'> & { verdict: string }

/** Why one build event was posted in one channel, or was not. Another version of the bot may have stored other reasons. */
export interface Explained
  extends Pick<BuildEvent, 'rawStatus' | 'at' | 'branch'>, Pick<StoredDecision, 'channel' | 'verdict' | 'rulesFrom'> {
  /** the events that rules could select for this build event */
  events: readonly Selectable[]
  reason: string
  /** the rules in their order, at most RULE_RESULTS_MAX */
  ruleResults: readonly StoredRuleResult[]
  /** the messages about it in this channel: the card, the attempt's reply, or the day's account notice */
  posted: readonly Posted[]
}

/** `slot`: `card`, `run:<build>.<n>` or `notice`. `waiting`: not posted yet, or not known to be. */
export interface Posted {
  slot: string
  state: 'posted' | 'waiting' | 'gone'
  ts: MessageTs | null
  /** when it was last posted or edited (ms) */
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
      /** how many channels are left out because the requester cannot see them */
      hidden: number
    }
  | NotFound

/** The outcome for a CiError. Throws every other error. */
export function ciFailureOf(error: unknown): CiFailure {
  if (!(error instanceof CiError)) throw error
  return { kind: 'ci-trouble', ...causeOf(error) }
}

/** What a CiError says; any other error is a `fault`, a bug in Buildline. */
export const causeOf = (error: unknown): Pick<CiFailure, 'code' | 'reason'> =>
  error instanceof CiError ? { code: error.kind, reason: error.reason ?? null } : { code: 'fault', reason: null }
