import type { ChannelId } from '../../domain/ids.ts'
import { refusalOf, type Requester, type Refused } from '../../projects/outcomes.ts'
import { shownOf, type ShownSubscription } from '../../projects/subscriptions.ts'
import type { Failure, Sent } from '../../slack/notifier.ts'
import type { ClosedChannel, StoredDigest } from '../../store/records.ts'
import { closeChannelBefore } from './closings.ts'
import type { SubscriptionDeps } from './deps.ts'

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
 * @param isChosen the channel comes from the requester's client, which could name one that they are not in
 */
export async function openChannelFor(
  deps: SubscriptionDeps,
  by: Requester,
  isChosen: boolean,
): Promise<Awaited<ReturnType<typeof channelFor>> | CannotPost | { kind: 'not-in-channel'; channel: ChannelId }> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  if (isChosen && !(await deps.channelsOf(by.user))?.has(channel)) return { kind: 'not-in-channel', channel }
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
  const outcome = await patiently(deps, () => deps.sendText(channel, text))
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

/** The longest wait for Slack's rate limit, since a person is waiting for the answer. */
export const PATIENCE_MS_MAX = 5_000

async function patiently({ clock }: SubscriptionDeps, say: () => Promise<Sent | Failure>): Promise<Sent | Failure> {
  const first = await say()
  if (first.kind !== 'rate-limited' || first.retryAfterMs > PATIENCE_MS_MAX) return first
  await clock.sleep(first.retryAfterMs)
  return say()
}
