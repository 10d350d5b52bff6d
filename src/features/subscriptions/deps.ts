import type { ChannelId } from '../../domain/ids.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import type { Permits } from '../../projects/outcomes.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { CanPost, SendText } from '../../slack/api/send-text.ts'
import type { Memberships } from '../../slack/api/directory.ts'
import type { VisibleDeps } from '../../projects/projects.ts'
import type { ShownDeps } from '../../projects/subscriptions.ts'

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
