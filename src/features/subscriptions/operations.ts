import type { ChannelId } from '../../domain/ids.ts'
import type { Asker } from '../../catalog/outcomes.ts'
import type { PatternQuestion, SubscribeWish } from './outcomes.ts'
import { channelClosed } from './channel-closed.ts'
import { channelOpened } from './closings.ts'
import type { SubscribeDeps } from './deps.ts'
import { dryRun } from './dry-run.ts'
import { previewPattern } from './preview.ts'
import { channelRules } from './rules.ts'
import { subscribe } from './subscribe.ts'
import { unsubscribe } from './unsubscribe.ts'

/** What people ask about what channels follow, in one bundle. */
export const subscriptionOperations = (deps: SubscribeDeps) => ({
  /** Replaces the subscription to the same branches of the same project; one line tells the channel. */
  subscribe: (wish: SubscribeWish, by: Asker) => subscribe(deps, wish, by),
  /** `project`: as people name it, `all`, or null: the only one here. `id`: one subscription exactly. */
  unsubscribe: (wish: { project: string | null; id: string | null }, by: Asker) => unsubscribe(deps, wish, by),
  rules: (channel: ChannelId | null) => channelRules(deps, channel),
  /** `event`: one word of the rules; null: each of them. */
  dryRun: (question: { project: string; branch: string; event: string | null }, by: Pick<Asker, 'user' | 'channel'>) =>
    dryRun(deps, question, by),
  preview: (question: PatternQuestion) => previewPattern(deps, question),
  maySubscribe: (by: Pick<Asker, 'user' | 'team'>) => deps.permits('subscribe', by),
  /** Slack says that the bot cannot post in a channel any more: messages wait, and its owners are told. */
  channelClosed: (channel: ChannelId, code: string) => channelClosed(deps, channel, code),
  /** Slack says that the bot can post there again: what waited goes out. */
  channelOpened: (channel: ChannelId) => channelOpened(deps, channel),
})
