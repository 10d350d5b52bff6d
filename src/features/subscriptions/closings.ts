import type { ChannelId } from '../../domain/ids.ts'
import type { SubscriptionDeps } from './outcomes.ts'
import { closedLine } from '../../slack/messages/subscription.ts'
import type { ClosedChannel } from '../../store/records.ts'

/** What is needed to record that a channel is closed, and to tell people. */
export type ClosingDeps = Pick<SubscriptionDeps, 'store' | 'clock' | 'log' | 'sendText' | 'subscriptions' | 'admins'>

/** Slack reports a closed channel: tells its owners now or in the job; nobody if it has no subscription or digest. */
export async function channelClosed(deps: ClosingDeps, channel: ChannelId, code: string): Promise<void> {
  const inForce = await deps.subscriptions()
  if (!inForce.some((one) => one.channel === channel) && !(await deps.store.read.digest(channel))) return
  await closeChannel(deps, channel, code)
  await announceClosings(deps)
}

/** A closed channel is tried again after this time, as in the reconciler, even if Slack does not report it open. */
const TRY_AGAIN_MS = 10 * 60_000

/** Marks a channel as closed: its posts wait, and `announceClosings` notifies people. */
export const closeChannel = (
  { store, clock }: Pick<ClosingDeps, 'store' | 'clock'>,
  channel: ChannelId,
  code: string,
) => store.write((tx) => tx.closeChannel({ channel, code, at: clock.now(), retryAt: clock.now() + TRY_AGAIN_MS }))

/** The store records under this name the last closing that this person was told about. */
const notifiedName = (channel: ChannelId, user: string): string => `tell-closing ${channel} ${user}`

/** Marks a channel as closed while this person sees it happen: they are not told a second time. */
export async function closeChannelBefore(
  deps: Pick<ClosingDeps, 'store' | 'clock'>,
  channel: ChannelId,
  code: string,
  user: string,
): Promise<void> {
  await closeChannel(deps, channel, code)
  await deps.store.write(async (tx) => {
    const closing = (await tx.closedChannels()).find((one) => one.channel === channel)
    if (closing) await tx.setLastDoneAt(notifiedName(channel, user), closing.closedAt)
  })
}

/** Slack reports that Buildline can post in the channel again. The next sweep sends what waited. */
export async function channelOpened({ store }: ClosingDeps, channel: ChannelId): Promise<void> {
  await store.write((tx) => tx.reopenChannel(channel))
}

/** A process that has claimed a closing tells its owners within this time, or is dead. */
export const NOTIFYING_MAX_MS = 60_000

/**
 * Tells the owners of each closed channel, directly and once for each closing. One of several processes claims a
 * closing; if it dies, another one does. People whom the dead process has told are not told again.
 */
export async function announceClosings(deps: ClosingDeps): Promise<void> {
  for (const closing of await deps.store.read.closedChannels())
    if ((await isUnnotified(deps, closing)) && (await claimClosing(deps, closing))) await notifyOwners(deps, closing)
}

async function isUnnotified(
  { store, clock }: ClosingDeps,
  { channel, closedAt, notifiedAt }: ClosedChannel,
): Promise<boolean> {
  if (notifiedAt === null) return true
  if (clock.now() - notifiedAt < NOTIFYING_MAX_MS) return false
  return ((await store.read.lastDoneAt(doneName(channel))) ?? 0) < closedAt
}

// The store records under this name the last closing whose owners were all told.
const doneName = (channel: string): string => `tell-closing ${channel}`

/** Claims a closing: true for one caller only. Replaces a claim that is older than NOTIFYING_MAX_MS. */
const claimClosing = ({ store, clock }: ClosingDeps, { channel, code, retryAt, closedAt, notifiedAt }: ClosedChannel) =>
  store.write(async (tx) => {
    if (notifiedAt !== null) {
      const now = (await tx.closedChannels()).find((one) => one.channel === channel)
      if (now?.closedAt !== closedAt || now.notifiedAt !== notifiedAt) return false
      await tx.reopenChannel(channel)
      await tx.closeChannel({ channel, code, at: closedAt, retryAt })
    }
    return tx.markNotified({ channel, closedAt }, clock.now())
  })

async function notifyOwners(deps: ClosingDeps, closing: ClosedChannel): Promise<void> {
  const { channel, closedAt, code } = closing
  const followed = (await deps.subscriptions()).filter((one) => one.channel === channel)
  const digest = await deps.store.read.digest(channel)
  const makers = [
    ...new Set([...followed.flatMap(({ createdBy }) => createdBy ?? []), ...(digest ? [digest.setBy] : [])]),
  ]
  const text = closedLine({ channel, code, followed, hasDigest: digest !== null })
  const ends: End[] = []
  for (const user of makers) ends.push(await notifyOne(deps, closing, user, text))
  const isForAdmins = followed.some(({ createdBy }) => createdBy === undefined) || !ends.includes('reached')
  if (isForAdmins && (followed.length > 0 || digest))
    for (const admin of deps.admins.filter((id) => /^[UW]/.test(id) && !makers.includes(id)))
      ends.push(await notifyOne(deps, closing, admin, text))
  deps.log.warn({ channel, code, told: ends.filter((end) => end === 'reached').length }, 'a channel is closed')
  // If somebody could not be reached now, the closing stays unfinished and is claimed again later.
  if (!ends.includes('later')) await deps.store.write((tx) => tx.setLastDoneAt(doneName(channel), closedAt))
}

type End = 'reached' | 'later' | 'never'

async function notifyOne(
  { store, sendText, log }: ClosingDeps,
  { channel, closedAt }: ClosedChannel,
  user: string,
  text: string,
): Promise<End> {
  const name = notifiedName(channel, user)
  if ((await store.read.lastDoneAt(name)) === closedAt) return 'reached'
  const outcome = await sendText(user, text)
  if (outcome.kind === 'sent') {
    await store.write((tx) => tx.setLastDoneAt(name, closedAt))
    return 'reached'
  }
  log.warn({ channel, user, code: outcome.code }, 'an owner could not be told that a channel is closed')
  return outcome.kind === 'channel-closed' || outcome.kind === 'refused' ? 'never' : 'later'
}
