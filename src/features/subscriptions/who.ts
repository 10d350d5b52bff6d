import type { ChannelId } from '../../domain/ids.ts'
import type { Asker, Refused } from '../../catalog/outcomes.ts'
import type { SubscribeDeps, SubscriptionDeps } from './deps.ts'

/** Where a subscription can be said: a channel that is nobody's direct messages; or why this person may not. */
export async function channelFor(
  { permits }: SubscriptionDeps,
  by: Asker,
): Promise<{ kind: 'channel'; channel: ChannelId } | { kind: 'no-channel' } | Refused> {
  const permit = await permits('subscribe', by)
  if (permit.kind === 'unknown-person') return permit
  if (permit.kind === 'no') return { kind: 'forbidden', action: 'subscribe', permit }
  return placeFor(by.channel)
}

export const placeFor = (
  channel: ChannelId | null,
): { kind: 'channel'; channel: ChannelId } | { kind: 'no-channel' } =>
  channel === null || channel.startsWith(DIRECT) ? { kind: 'no-channel' } : { kind: 'channel', channel }

/** The ids of direct messages begin so. */
const DIRECT = 'D'

/**
 * What is chosen in a form comes from the asker's own client, which could name a private channel that it never saw. False
 * where Slack does not say.
 */
export const isIn = async ({ channelsOf }: SubscribeDeps, user: string, channel: ChannelId): Promise<boolean> =>
  (await channelsOf(user))?.has(channel) ?? false
