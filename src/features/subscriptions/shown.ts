import type { Subscription } from '../../domain/subscription.ts'
import type { ClosedChannel } from '../../store/kept.ts'
import type { ShownSubscription } from './outcomes.ts'
import type { SubscriptionDeps } from './deps.ts'
import { isAbout, namedProjects, type Named } from './names.ts'

/** Subscriptions with what they come to now: the project, its rules, whether the channel can be told. */
export async function shownOf(
  deps: SubscriptionDeps,
  subscriptions: readonly Subscription[],
): Promise<ShownSubscription[]> {
  const [named, closed] = await Promise.all([namedProjects(deps.store.read), deps.store.read.closedChannels()])
  return Promise.all(subscriptions.map((one) => shown(deps, one, { named, closed })))
}

interface Known {
  named: readonly Named[]
  closed: readonly ClosedChannel[]
}

async function shown(
  deps: SubscriptionDeps,
  subscription: Subscription,
  { named, closed }: Known,
): Promise<ShownSubscription> {
  const about = named.find((one) => isAbout(subscription, one)) ?? null
  return {
    subscription,
    project: about && about.project,
    rules: subscription.rules ?? (about && (await ciRules(deps, about))),
    rulesFrom: subscription.rules === null ? 'ci' : subscription.source === 'file' ? 'file' : 'channel',
    paused: pausedIn(closed, subscription),
  }
}

export function pausedIn(
  closed: readonly ClosedChannel[],
  { channel }: Pick<Subscription, 'channel'>,
): ShownSubscription['paused'] {
  const found = closed.find((one) => one.channel === channel)
  return found ? { code: found.code, at: found.closedAt } : null
}

async function ciRules(deps: SubscriptionDeps, { names }: Named): Promise<ShownSubscription['rules']> {
  const rules = await deps.rulesOf(names)
  return rules === 'wait' ? null : rules
}
