import type { ChannelId } from '../../domain/ids.ts'
import type { RulesOutcome } from './outcomes.ts'
import type { SubscriptionDeps } from './deps.ts'
import { shownOf } from './shown.ts'
import { placeFor } from './who.ts'

/** Everything that a channel follows, wherever it was said. */
export async function channelRules(deps: SubscriptionDeps, asked: ChannelId | null): Promise<RulesOutcome> {
  const place = placeFor(asked)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const here = (await deps.subscriptions()).filter((one) => one.channel === channel)
  return { kind: 'rules', channel, subscriptions: await shownOf(deps, here) }
}
