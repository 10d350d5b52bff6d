import type { StreakExtent, Ownership } from '../domain/builds/streak.ts'
import type { Capabilities } from '../domain/cards/capabilities.ts'
import type { ChannelId, MessageTs, SourceName, Uuid } from '../domain/ids.ts'
import type { Permit, Right } from '../slack/api/permission.ts'
import type { ProjectRef } from '../domain/ci-project/project-names.ts'
import type { Action, Request, AttemptRef } from '../domain/cards/request.ts'
import type { BuildView, CardView } from '../domain/cards/view.ts'
import { CiError } from '../sources/http/errors.ts'

export type { ProjectRef }

// People's requests, and the outcomes that several of them share. Each other outcome stands beside the function that
// returns it.

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
  extends BuildView, Capabilities, Pick<CardView, 'shown' | 'word' | 'attemptNumber' | 'failures'> {
  ref: AttemptRef
  /** when the attempt's newest build event was received (ms); if CI was asked, the time that CI gave */
  at: number
  /** null: its branch is not red */
  streak: StreakExtent | null
  /** who is on its branch, if that is red because builds failed (not only CI machine errors) */
  ownership?: Ownership
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

export interface ListQuery {
  text: string | null
  type: 'basic' | 'pro' | null
  /** from 1 */
  page: number
}

/** The projects that a channel follows, or all: it follows none, or there is no channel. */
export type Where = 'channel' | 'everywhere'

/** The outcome for a CiError. Throws every other error. */
export function ciFailureOf(error: unknown): CiFailure {
  if (!(error instanceof CiError)) throw error
  return { kind: 'ci-trouble', ...causeOf(error) }
}

/** What a CiError says; any other error is a `fault`, a bug in Buildline. */
export const causeOf = (error: unknown): Pick<CiFailure, 'code' | 'reason'> =>
  error instanceof CiError ? { code: error.kind, reason: error.reason ?? null } : { code: 'fault', reason: null }
