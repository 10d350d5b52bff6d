import type { BranchFilter } from '../domain/branch-filter.ts'
import type { Decision } from '../domain/decide.ts'
import type { ChannelId, ProjectId, Uuid } from '../domain/ids.ts'
import type { PlacedFact } from '../domain/revision.ts'
import type { CardState, Lanes } from '../domain/plan.ts'
import type { ProjectRequest } from '../domain/project-request.ts'
import type { Request, RunRef } from '../domain/request.ts'
import type { NotificationRule } from '../domain/rule.ts'
import type { Status } from '../domain/status.ts'
import type { Subscription } from '../domain/subscription.ts'

// What is kept, in the shapes in which it is read and written.

/** A card as stored: what is left to do is in its lanes. */
export interface Card extends CardState {
  lanes: Lanes
  attempts: number
  plain: boolean
  problem: string | null
}

export interface CardKey {
  subject: string
  channel: ChannelId
}

/** A decision with the fact and channel it is about. */
export interface KeptDecision extends Decision {
  factSeq: number
  channel: ChannelId
  subject: string
  recovered: boolean
  noticeDay: string | null
  decidedAt: number
}

export interface BuildPlace {
  revisionKey: string
  branch: string | null
  commitId: string | null
}

/**
 * What is kept of a project: its names, its rules and which branches are built, no secret. `rules` and `filter` are null
 * where only the legacy interface knows it.
 */
export interface KnownProject {
  uuid: Uuid
  name: string
  legacyId: string | null
  /** `basic`, `pro`, or CI's own word; null where only the legacy interface knows it, which lists Basic ones alone */
  type: string | null
  rules: readonly NotificationRule[] | null
  filter: BranchFilter | null
}

/** A project by what deliveries called it. */
export interface HeardProject {
  projectId: ProjectId
  name: string
  fullName: string | null
  projectUuid: Uuid | null
  /** when a fact of it was last taken in (ms) */
  at: number
}

/** Where a build stands: its newest run, as taken in. */
export interface KnownBuild extends RunRef {
  revisionKey: string
  episode: number
  branch: string | null
  status: Status
  /** CI's own word */
  word: string
  /** when the newest fact of it was received (ms) */
  at: number
  buildUuid: Uuid | null
  /** the committer's handle in its normal form; null where CI named none */
  committer: string | null
}

/** What changes of a request as it goes on. */
export type RequestChange = Partial<
  Pick<
    Request,
    'state' | 'code' | 'reason' | 'answeredAt' | 'newBuildId' | 'newBuildUuid' | 'lookAt' | 'endedAt' | 'claimedBy'
  >
> &
  // Of a project that is being created.
  Partial<Pick<ProjectRequest, 'projectUuid'>>

/** A fact by its place alone. */
export type FactPlace = Pick<PlacedFact, 'seq' | 'at' | 'episode'> & Pick<BuildPlace, 'revisionKey'>

/** A fact that finishes a build, by its place alone. */
export type VerdictPlace = FactPlace & Pick<PlacedFact, 'buildId' | 'status'>

/** Scheduled work that one of several processes may do, until then (ms). */
export interface Lease {
  name: string
  heldBy: string
  heldUntil: number
}

/** A revision to take in: woken, or with facts of these builds (`project_id/build_id`) that have no episode yet. */
export interface DueRevision {
  revisionKey: string
  buildKeys: readonly string[]
}

export interface ClosedChannel {
  channel: ChannelId
  code: string
  retryAt: number
  /** since when (ms) */
  closedAt: number
  /** when those concerned were told of it (ms); null: not yet */
  toldAt: number | null
}

/** A subscription that was made in Slack. */
export interface KeptSubscription extends Subscription {
  source: 'slack'
  id: string
  createdBy: string
  createdAt: number
  /** who last put another one in its place, and when (ms); null: nobody has */
  changedBy: string | null
  changedAt: number | null
}

/** What somebody in Slack wants a channel to follow. */
export type WantedSubscription = Pick<Subscription, 'channel' | 'follows' | 'rules' | 'quiet' | 'mention'>

/** Whose a committer's handle is, since when (ms), and since when that person is gone from the workspace. */
export interface Claim {
  user: string
  at: number
  inactiveAt: number | null
}
