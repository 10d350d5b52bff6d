import { type ChannelId, isChannelId } from '../../domain/ids.ts'
import { refusalOf, type Requester, type Refused, type Permits } from '../../projects/outcomes.ts'
import { shownOf, type ShownSubscription, type ShownDeps } from '../../projects/subscriptions.ts'
import type { ClosedChannel, StoredDigest } from '../../store/records.ts'
import { WOKEN_MAX, wakeUnshown } from '../../projects/followers.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import { closedLine, elsewhereLine } from '../../slack/messages/subscription.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { sendPatiently, type CanPost, type SendText } from '../../slack/api/send-text.ts'
import type { VisibleDeps } from '../../projects/projects.ts'

/** Whether the change was announced in the channel; `code`: Slack's error if it was not, or may not have been. */
export type Announced = { kind: 'told' } | { kind: 'not-told'; code: string; isClosed: boolean }

/** Slack says that nothing can be posted in the channel; `code`: its error for a post */
export interface CannotPost {
  kind: 'cannot-post'
  channel: ChannelId
  code: string
}

export type RulesOutcome =
  | {
      kind: 'rules'
      channel: ChannelId
      subscriptions: readonly ShownSubscription[]
      /** null: the channel has none */
      digest: StoredDigest | null
    }
  | { kind: 'no-channel' }

/** All subscriptions of a channel, wherever they are set, and its digest. */
export async function channelRules(deps: SubscriptionDeps, asked: ChannelId | null): Promise<RulesOutcome> {
  const place = postableChannel(asked)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const here = (await deps.subscriptions()).filter((one) => one.channel === channel)
  const digest = await deps.store.read.digest(channel)
  return { kind: 'rules', channel, subscriptions: await shownOf(deps, here), digest }
}

/** The channel whose subscriptions this person may change, or why they may not. Not a direct message. */
export async function channelFor(
  { permits }: SubscriptionDeps,
  by: Requester,
): Promise<ReturnType<typeof postableChannel> | Refused> {
  return (await refusalOf(permits, 'subscribe', by, 'subscribe')) ?? postableChannel(by.channel)
}

/**
 * The channel that this person may subscribe, if Slack says that builds can be posted there. If Slack does not say it
 * now, the announcement shows it.
 */
export async function openChannelFor(
  deps: SubscriptionDeps,
  by: Requester,
): Promise<Awaited<ReturnType<typeof channelFor>> | CannotPost> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const can = await deps.canPost(channel)
  return can.kind === 'closed' ? { kind: 'cannot-post', channel, code: can.code } : place
}

/** The channel, if builds can be posted in it: not in a direct message. */
export const postableChannel = (
  channel: ChannelId | null,
): { kind: 'channel'; channel: ChannelId } | { kind: 'no-channel' } =>
  channel === null || channel.startsWith(DIRECT) ? { kind: 'no-channel' } : { kind: 'channel', channel }

/** The ids of direct messages begin with this letter. */
const DIRECT = 'D'

/** Posts a change in the channel, once. A post with an unclear outcome is not retried: it could appear twice. */
export async function announce(
  deps: SubscriptionDeps,
  { channel, text, user }: { channel: ChannelId; text: string; user: string },
): Promise<Announced> {
  const before = (await deps.store.read.closedChannels()).find((one) => one.channel === channel)
  const outcome = await sendPatiently(deps, channel, text)
  if (outcome.kind === 'sent') {
    if (before) await openAgain(deps, before)
    return { kind: 'told' }
  }
  const isClosed = outcome.kind === 'channel-closed'
  if (isClosed) await closeChannelBefore(deps, channel, outcome.code, user)
  deps.log.warn({ channel, code: outcome.code }, 'a change of subscriptions could not be announced in its channel')
  return { kind: 'not-told', code: outcome.code, isClosed }
}

/** A successful post proves that the channel is open, so its closing is removed. A newer closing stays. */
const openAgain = ({ store }: SubscriptionDeps, { channel, closedAt }: ClosedChannel): Promise<void> =>
  store.write(async (tx) => {
    const now = (await tx.closedChannels()).find((one) => one.channel === channel)
    if (now?.closedAt === closedAt) await tx.reopenChannel(channel)
  })

/** The dependencies to record that a channel is closed, and to notify people. */
export type ClosingDeps = Pick<SubscriptionDeps, 'store' | 'clock' | 'log' | 'sendText' | 'subscriptions' | 'admins'>

/** A closed channel is tried again after this time, as in the reconciler. */
const TRY_AGAIN_MS = 10 * 60_000

/** Marks a channel as closed: its posts wait, and `announceClosings` notifies people. */
export const closeChannel = (
  { store, clock }: Pick<ClosingDeps, 'store' | 'clock'>,
  channel: ChannelId,
  code: string,
) => store.write((tx) => tx.closeChannel({ channel, code, at: clock.now(), retryAt: clock.now() + TRY_AGAIN_MS }))

/** The store records under this name the last closing that this person was notified of. */
const notifiedName = (channel: ChannelId, user: string): string => `tell-closing ${channel} ${user}`

/** Marks a channel as closed. This person sees it happen, so they are not notified again. */
async function closeChannelBefore(
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

/**
 * Slack has given a channel another id, for example when a private channel is shared with another workspace. Requests
 * that still name the former id are read as if they named the current one (`ReceivingApp`).
 */
export async function channelMoved({ store }: ClosingDeps, from: ChannelId, to: ChannelId): Promise<void> {
  if (from !== to) await store.write((tx) => tx.moveChannel(from, to))
}

/** Slack reports that Buildline was invited to the channel. The next sweep sends what waited. */
export async function channelOpened({ store }: ClosingDeps, channel: ChannelId): Promise<void> {
  await store.write(async (tx) => {
    await tx.reopenChannel(channel)
    // If it is the default channel, it gets what came for others while it was closed as well.
    for (const other of await tx.closedChannels()) await tx.setLastDoneAt(elsewhereName(other.channel), 0)
  })
}

/** The store records under this name for which closing the default channel got what the closed channel has not shown. */
const elsewhereName = (channel: ChannelId): string => `show-elsewhere ${channel}`

/** A process that has claimed a closing notifies its owners within this time, or is dead. */
export const NOTIFYING_MAX_MS = 60_000

/**
 * Notifies the owners of each closed channel, directly, and the default channel, once for each closing. One of several
 * processes claims a closing; if it dies, another one does. People whom the dead process has notified are not notified
 * again.
 */
export async function announceClosings(deps: ClosingDeps): Promise<void> {
  const moved = await deps.store.read.movedChannels()
  for (const closing of await deps.store.read.closedChannels()) {
    const id = moved.get(closing.channel)
    // Work in flight when the channel got another id may have been stored under the former one.
    if (id !== undefined) await channelMoved(deps, closing.channel, id)
    else {
      await showElsewhere(deps, closing)
      if ((await isUnnotified(deps, closing)) && (await claimClosing(deps, closing))) await notifyOwners(deps, closing)
    }
  }
}

/** By then, build events that were being ingested when the channel closed are ingested. */
const INGESTED_AFTER_MS = 10_000

/** The default channel gets what the closed one has not shown. Later builds are decided for it when they come. */
async function showElsewhere(
  { store, clock, log, subscriptions }: ClosingDeps,
  { channel, closedAt }: ClosedChannel,
): Promise<void> {
  const name = elsewhereName(channel)
  const substitute = substituteIn(await subscriptions(), channel)
  const isDone = (await store.read.lastDoneAt(name)) === closedAt
  // A default channel that is closed too gets nothing meanwhile, so this runs again when it opens.
  if (substitute === null && isDone) await store.write((tx) => tx.setLastDoneAt(name, 0))
  if (substitute === null || isDone) return
  const now = clock.now()
  const woken = await store.write(async (tx) => {
    const count = await wakeUnshown(tx, channel, substitute, now)
    if (count < WOKEN_MAX && now > closedAt + INGESTED_AFTER_MS) await tx.setLastDoneAt(name, closedAt)
    return count
  })
  if (woken > 0) log.info({ channel, revisions: woken }, 'builds of a closed channel go to the default channel')
}

/** The channel that gets the builds of a closed one; null: there is none. */
function substituteIn(all: readonly Subscription[], closed: ChannelId): ChannelId | null {
  const byDefault = all.find(({ follows, closedAt }) => follows.what === 'unfollowed' && !closedAt)
  return byDefault && byDefault.channel !== closed ? byDefault.channel : null
}

async function isUnnotified(
  { store, clock }: ClosingDeps,
  { channel, closedAt, notifiedAt }: ClosedChannel,
): Promise<boolean> {
  if (notifiedAt === null) return true
  if (clock.now() - notifiedAt < NOTIFYING_MAX_MS) return false
  return ((await store.read.lastDoneAt(doneName(channel))) ?? 0) < closedAt
}

// The store records under this name the last closing whose owners were all notified.
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
  const all = await deps.subscriptions()
  const followed = all.filter((one) => one.channel === channel)
  const digest = await deps.store.read.digest(channel)
  const substitute = substituteIn(all, channel)
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
  if (substitute !== null && followed.length > 0)
    ends.push(await notifyOne(deps, closing, substitute, elsewhereLine({ channel, at: closedAt, followed })))
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
  // The line in the default channel is not repeated if it may have arrived, since its builds show the same.
  if (outcome.kind === 'sent' || (outcome.kind === 'unclear' && isChannelId(user))) {
    await store.write((tx) => tx.setLastDoneAt(name, closedAt))
    return 'reached'
  }
  log.warn({ channel, user, code: outcome.code }, 'could not notify people that a channel is closed')
  return outcome.kind === 'channel-closed' || outcome.kind === 'refused' ? 'never' : 'later'
}

export interface SubscriptionDeps extends ShownDeps, VisibleDeps {
  clock: Clock
  log: Log
  permits: Permits
  /** all subscriptions in force now */
  subscriptions: () => Promise<readonly Subscription[]>
  sendText: SendText
  /** Slack users, and user groups, which cannot get direct messages */
  admins: readonly string[]
  canPost: (channel: ChannelId) => Promise<CanPost>
  /** the time zone of a Slack user; UTC if Slack does not say */
  timeZoneOf: (user: string) => Promise<string>
}
