import type { CiRules } from '../../domain/decide.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { ProjectNames, Subscription } from '../../domain/subscription.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Failure, Sent } from '../../slack/notifier.ts'
import type { Memberships } from '../../slack/api/memberships.ts'
import type { Store } from '../../store/store.ts'
import type { ActDeps } from '../builds/deed.ts'
import type { VisibleDeps } from '../../catalog/visible.ts'

export interface SubscriptionDeps {
  store: Store
  clock: Clock
  log: Log
  permits: ActDeps['permits']
  /** all subscriptions in force now */
  subscriptions: () => Promise<readonly Subscription[]>
  rulesOf: (project: ProjectNames) => Promise<CiRules | 'wait'>
  /** One plain message to a channel or a person, tried once. @param text markup, with outside text in it escaped */
  say: (to: ChannelId | string, text: string) => Promise<Sent | Failure>
  /** Slack users, and user groups, which cannot be written to */
  admins: readonly string[]
}

/** What it takes besides to change what a channel follows. */
export interface SubscribeDeps extends SubscriptionDeps, VisibleDeps {
  /** the channels that a person is in; null: Slack does not say */
  channelsOf: Memberships['channelsOf']
}
