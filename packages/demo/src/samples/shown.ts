import type { ChannelRule } from '../../../../src/domain/rules/rule.ts'
import type { Subscription } from '../../../../src/domain/rules/subscription.ts'
import type { ShownSubscription } from '../../../../src/projects/subscriptions.ts'
import { BUILD_AT, CHANNEL, projectOf, type Cast } from './cast.ts'

// One subscription in each of the ways in which it can be shown.

export const ruleOf = ({ branch }: Cast): ChannelRule => ({
  branch,
  branchMatch: 'exact',
  events: ['failed', 'recovered'],
})

export const shownOf = (cast: Cast, change: Partial<Subscription> = {}, more: Partial<ShownSubscription> = {}) => {
  const rules = [ruleOf(cast)]
  const subscription: Subscription = {
    channel: CHANNEL,
    follows: { what: 'project', name: cast.project },
    rules,
    quiet: false,
    mention: 'committer',
    source: 'slack',
    id: '7',
    createdBy: cast.user,
    createdAt: BUILD_AT,
    ...change,
  }
  const shown: ShownSubscription = {
    subscription,
    project: projectOf(cast.project),
    rules: subscription.rules,
    rulesFrom: 'channel',
    paused: null,
    ...more,
  }
  return shown
}

const kept = ({ source, ...rest }: Omit<Subscription, 'id' | 'createdBy' | 'createdAt'>): Subscription => ({
  ...rest,
  source,
})

export const ofFile = (cast: Cast): ShownSubscription => {
  const { subscription, ...shown } = shownOf(cast)
  const { channel, follows, rules, quiet, mention } = subscription
  return {
    ...shown,
    subscription: kept({ channel, follows, rules, quiet, mention, source: 'file' }),
    rulesFrom: 'file',
  }
}

export const ofDefault = (cast: Cast): ShownSubscription => ({
  ...shownOf(cast),
  subscription: kept({
    channel: CHANNEL,
    follows: { what: 'unfollowed' },
    rules: null,
    quiet: false,
    mention: 'committer',
    source: 'default-channel',
  }),
  project: null,
  rules: null,
  rulesFrom: 'ci',
})
