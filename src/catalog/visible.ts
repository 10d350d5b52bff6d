import type { ChannelId } from '../domain/ids.ts'
import type { Memberships } from '../slack/api/memberships.ts'
import type { Asker } from './outcomes.ts'

export interface VisibleDeps {
  /** the channels that a person can look into; null: Slack does not say */
  seenBy: Memberships['seenBy']
}

/**
 * Which channels are named to somebody: where they ask, and where they can look. What a private channel follows is its
 * members' own; while Slack does not say who is where, nothing of other channels is shown.
 */
export async function visibleTo(
  { seenBy }: VisibleDeps,
  { user, channel }: Pick<Asker, 'user' | 'channel'>,
): Promise<(one: ChannelId) => boolean> {
  const seen = await seenBy(user)
  return (one) => one === channel || (seen?.has(one) ?? false)
}
