import type { ChannelId } from '../../domain/ids.ts'
import type { Requester, Refused } from '../../catalog/outcomes.ts'
import { shownOf } from '../../catalog/subscriptions.ts'
import type { RulesOutcome, SubscribeDeps, SubscriptionDeps } from './outcomes.ts'

/** All subscriptions of a channel, wherever they are set, and its digest. */
export async function channelRules(deps: SubscriptionDeps, asked: ChannelId | null): Promise<RulesOutcome> {
  const place = placeFor(asked)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const here = (await deps.subscriptions()).filter((one) => one.channel === channel)
  const digest = await deps.store.read.digest(channel)
  return { kind: 'rules', channel, subscriptions: await shownOf(deps, here), digest }
}

/** The channel whose subscriptions this person may change: not a direct message; or why they may not. */
export async function channelFor(
  { permits }: SubscriptionDeps,
  by: Requester,
): Promise<{ kind: 'channel'; channel: ChannelId } | { kind: 'no-channel' } | Refused> {
  const permit = await permits('subscribe', by)
  if (permit.kind === 'unknown-person') return permit
  if (permit.kind === 'no') return { kind: 'forbidden', action: 'subscribe', permit }
  return placeFor(by.channel)
}

const placeFor = (channel: ChannelId | null): { kind: 'channel'; channel: ChannelId } | { kind: 'no-channel' } =>
  channel === null || channel.startsWith(DIRECT) ? { kind: 'no-channel' } : { kind: 'channel', channel }

/** The ids of direct messages begin with this letter. */
const DIRECT = 'D'

/**
 * A channel that was chosen in a form comes from the requester's client, which could name a private channel that the
 * requester is not in. False if Slack does not say.
 */
export const isIn = async ({ channelsOf }: SubscribeDeps, user: string, channel: ChannelId): Promise<boolean> =>
  (await channelsOf(user))?.has(channel) ?? false
