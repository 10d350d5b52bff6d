import type { ChannelId } from '../../domain/ids.ts'
import { following, type Subscription } from '../../domain/subscription.ts'
import type { Named } from './names.ts'

/**
 * The default channel, where it was told of this project (or of some, for all of them) only because no other channel
 * followed it, and hears nothing of it once this one does. Null: nobody falls silent.
 */
export function fallsSilent(
  before: readonly Subscription[],
  channel: ChannelId,
  about: Named | null,
): ChannelId | null {
  const told = about ? following(before, about.names) : before
  const byDefault = told.find((one) => one.follows.what === 'unfollowed' && one.channel !== channel)
  return byDefault?.channel ?? null
}
