import type { ChannelId } from '../../domain/ids.ts'
import type { SubscriptionDeps } from './deps.ts'

/** A closed channel is tried again so often, should nobody say that it is open: as the reconciler does. */
export const TRY_AGAIN_MS = 10 * 60_000

/** Nothing can be said in a channel: it waits, and its owners are told by `tellClosings`. */
export const closeChannel = (
  { store, clock }: Pick<SubscriptionDeps, 'store' | 'clock'>,
  channel: ChannelId,
  code: string,
) => store.write((tx) => tx.closeChannel({ channel, code, at: clock.now(), retryAt: clock.now() + TRY_AGAIN_MS }))

/** Under this name the store knows of which closing this person was last told. */
export const toldName = (channel: ChannelId, user: string): string => `tell-closing ${channel} ${user}`

/** The same where this person sees it happen: they are not told a second time. */
export async function closeChannelBefore(
  deps: Pick<SubscriptionDeps, 'store' | 'clock'>,
  channel: ChannelId,
  code: string,
  user: string,
): Promise<void> {
  await closeChannel(deps, channel, code)
  await deps.store.write(async (tx) => {
    const closing = (await tx.closedChannels()).find((one) => one.channel === channel)
    if (closing) await tx.setLastDoneAt(toldName(channel, user), closing.closedAt)
  })
}

/** Slack says that it can be spoken in again: the next sweep sends what waited. */
export async function channelOpened({ store }: SubscriptionDeps, channel: ChannelId): Promise<void> {
  await store.write((tx) => tx.reopenChannel(channel))
}
