import type { ChannelId } from '../../domain/ids.ts'
import type { Permit } from '../../domain/permission.ts'
import type { ProjectAction } from '../../domain/project-request.ts'
import type { Action, RequestState } from '../../domain/request.ts'
import type { BuildSummary } from '../../catalog/outcomes.ts'
import type { Me } from '../people/outcomes.ts'
import type { ShownSubscription } from '../subscriptions/outcomes.ts'
import type { Connection } from '../../sources/ci-service/connections.ts'

/** What is counted stops here: of more it is said that there are more. */
export const COUNTED_MAX = 100

/** The first of a list, and how many follow: at least so many where both together are COUNTED_MAX. */
export interface Some<One> {
  shown: readonly One[]
  more: number
}

/** What one person's App Home shows. Times are ms since the epoch. */
export interface HomeState {
  me: Me
  /** builds of the person's own commits that leave their branch red, newest first */
  red: Some<BuildSummary>
  /** builds that wait, for approval or in a queue: of the projects that the person's channels follow, else of all */
  waiting: Some<BuildSummary>
  /** of the channels that the person is in, and of no other; null: Slack did not say which those are */
  subscriptions: Some<ShownSubscription> | null
  /** may the person say what channels are told? */
  mayFollow: boolean
  /** set for admins */
  admin: AdminState | null
}

export interface AdminState {
  connections: readonly Connection[]
  /** when each project was last heard of, the newest first */
  deliveries: Some<{ project: string; at: number }>
  paused: Some<PausedChannel>
  /** what people asked of CI last, the newest first */
  audit: readonly AuditLine[]
}

/** A channel that cannot be told. */
export interface PausedChannel {
  channel: ChannelId
  /** Slack's word why */
  code: string
  at: number
  /** null: the admin is not in it, and what a private channel follows is its members' business */
  follows: readonly ShownSubscription[] | null
}

export interface AuditLine {
  at: number
  /** a Slack user */
  by: string
  action: Action | ProjectAction
  project: string
  buildId: string | null
  branch: string | null
  state: RequestState
}

export type HomeOutcome =
  | { kind: 'home'; home: HomeState }
  /** an outsider, say: nothing is shown */
  | Extract<Permit, { kind: 'no' }>
  | { kind: 'unknown-person'; code: string }
