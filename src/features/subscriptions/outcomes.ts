import type { BranchFilterWords, FilterVerdict } from '../../domain/rules/pattern.ts'
import type { Decision } from '../../domain/rules/decide.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { FieldFault } from '../../domain/ci-project/project.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import type { Permits, ProjectNotFound, Refused } from '../../projects/outcomes.ts'
import type { ReminderInput } from './remind.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { CanPost, SendText } from '../../slack/api/send-text.ts'
import type { Memberships } from '../../slack/api/directory.ts'
import type { VisibleDeps } from '../../projects/projects.ts'
import type { StoredDigest } from '../../store/digests.ts'
import type { NewSubscription } from '../../store/records.ts'
import type { ShownDeps, ShownSubscription } from '../../projects/subscriptions.ts'

// Requests about the subscriptions of a channel, and their outcomes.

export interface SubscribeInput {
  /** a project as people name it; `all` */
  project: string
  /** `every` includes stopped and unknown statuses; null: every event of the branch or, without one, CI's rules */
  events: readonly string[] | 'every' | null
  branch: string | null
  branchMatch: 'exact' | 'wildcard' | 'regex' | null
  quiet: boolean
  mention: 'committer' | 'nobody'
  /** null: no reminders; left out: those of the subscription that it replaces */
  remind?: ReminderInput | null
  /** the id of the subscription to replace, whatever that one follows; left out: the one of the same branches */
  instead?: string
  /** the requester has confirmed this branch, though no build has had it */
  isBranchMeant?: boolean
  /** the channel was chosen elsewhere, so the requester has to be in it */
  isChosen?: boolean
}

/** Whether the change was announced in the channel; `code`: Slack's error if it was not, or may not have been. */
export type Announced = { kind: 'told' } | { kind: 'not-told'; code: string; isClosed: boolean }

export type SubscribeOutcome =
  | {
      kind: 'subscribed'
      shown: ShownSubscription
      was: ShownSubscription | null
      /** the channel's subscription to all projects, which no longer counts for this one */
      over: Subscription | null
      announced: Announced
      /** the default channel, if it gets nothing about this any more; null: it still does, or never did */
      silent: ChannelId | null
    }
  /** exactly this subscription exists already */
  | { kind: 'same'; shown: ShownSubscription }
  /** the subscriptions file or DEFAULT_CHANNEL sets it */
  | { kind: 'set-elsewhere'; shown: ShownSubscription }
  | { kind: 'too-many'; max: number }
  | { kind: 'no-channel' }
  /** Slack does not confirm that the requester is in the chosen channel */
  | { kind: 'not-in-channel'; channel: ChannelId }
  | CannotPost
  | { kind: 'faults'; faults: readonly FieldFault[] }
  | UnknownBranch
  | ProjectNotFound
  | Refused

/** No known branch of the project matches: nothing is stored until the requester confirms it. */
export interface UnknownBranch {
  kind: 'unknown-branch'
  channel: ChannelId
  wish: SubscribeInput
  /** null: all projects */
  project: string | null
  /** a known branch that was probably meant */
  nearest: string | null
  /** the known branches, the newest first */
  known: readonly string[]
}

/** Slack says that nothing can be posted in the channel; `code`: its error for a post */
export interface CannotPost {
  kind: 'cannot-post'
  channel: ChannelId
  code: string
}

/** A wish that would change something in the channel. */
export interface Foreseen {
  kind: 'would-subscribe'
  subscription: NewSubscription
  /** the subscription that it would replace */
  was: ShownSubscription | null
}

/** The subscriptions to remove: of a project as people name it or `all`, one by its id, or the only one here. */
export interface UnsubscribeWish {
  project: string | null
  id: string | null
}

export type UnsubscribeOutcome =
  | { kind: 'unsubscribed'; removed: readonly ShownSubscription[]; announced: Announced }
  /** the channel has no such subscription; `here`: those that it has */
  | { kind: 'not-subscribed'; text: string | null; here: readonly ShownSubscription[] }
  /** the channel has several, and the request did not say which */
  | { kind: 'which'; here: readonly ShownSubscription[] }
  | { kind: 'set-elsewhere'; shown: ShownSubscription }
  | { kind: 'no-channel' }
  | ProjectNotFound
  | Refused

export type RulesOutcome =
  | {
      kind: 'rules'
      channel: ChannelId
      subscriptions: readonly ShownSubscription[]
      /** null: the channel has none */
      digest: StoredDigest | null
    }
  | { kind: 'no-channel' }

/** What one event of one branch would do in one channel. */
export interface DryChannel {
  channel: ChannelId
  decision: Decision
  quiet: boolean
  mentions: boolean
  paused: ShownSubscription['paused']
}

export type DryRunOutcome =
  | {
      kind: 'dry-run'
      project: ProjectRef
      branch: string
      events: readonly { event: string; channels: readonly DryChannel[] }[]
      /** whether CI would build this branch at all; null: its filter is not known */
      filter: ({ words: BranchFilterWords } & FilterVerdict) | null
      /** the project's rules could not be read yet, so channels get every event */
      unread: boolean
      /** how many channels are left out, because the requester cannot see them */
      hidden: number
    }
  | { kind: 'unknown-event'; text: string; events: readonly string[] }
  | ProjectNotFound

/** The known branches that a pattern covers, those with the newest builds first. */
export interface PatternPreview {
  isValid: boolean
  matches: readonly string[]
  /** how many further branches match */
  more: number
  seen: number
}

export interface PatternQuery {
  project: string
  branch: string | null
  /** CI's word or ours; null: the pattern itself shows it */
  branchMatch: string | null
}

export interface SubscriptionDeps extends ShownDeps, VisibleDeps {
  clock: Clock
  log: Log
  permits: Permits
  /** all subscriptions in force now */
  subscriptions: () => Promise<readonly Subscription[]>
  sendText: SendText
  /** Slack users, and user groups, which cannot get direct messages */
  admins: readonly string[]
  /** the channels that a person is in; null: Slack does not say */
  channelsOf: Memberships['channelsOf']
  canPost: (channel: ChannelId) => Promise<CanPost>
  /** the time zone of a Slack user; UTC if Slack does not say */
  timeZoneOf: (user: string) => Promise<string>
}
