import type { SubscriptionOperations } from './outcomes.ts'
import { channelClosed } from './channel-closed.ts'
import { channelOpened } from './closings.ts'
import type { SubscribeDeps } from './deps.ts'
import { dryRun } from './dry-run.ts'
import { previewPattern } from './preview.ts'
import { channelRules } from './rules.ts'
import { subscribe } from './subscribe.ts'
import { unsubscribe } from './unsubscribe.ts'

/** What people ask about what channels follow, in one bundle. */
export const subscriptionOperations = (deps: SubscribeDeps): SubscriptionOperations => ({
  subscribe: (wish, by) => subscribe(deps, wish, by),
  unsubscribe: (wish, by) => unsubscribe(deps, wish, by),
  rules: (channel) => channelRules(deps, channel),
  dryRun: (question, by) => dryRun(deps, question, by),
  preview: (question) => previewPattern(deps, question),
  maySubscribe: (by) => deps.permits('subscribe', by),
  channelClosed: (channel, code) => channelClosed(deps, channel, code),
  channelOpened: (channel) => channelOpened(deps, channel),
})
