import type { BuildEvent } from '../domain/build-event.ts'
import type { ChannelId } from '../domain/ids.ts'
import { noticeDay } from '../domain/build-view.ts'
import { noticeSubject } from '../domain/revision.ts'
import type { StoredMessage } from '../domain/plan.ts'
import type { Subscription } from '../domain/subscription.ts'
import type { Card } from '../store/records.ts'
import type { Reads, Tx } from '../store/store.ts'

// While a channel is closed, the default channel gets its builds: all but those that the channel had shown before.

/**
 * Of a card's build events: those that closed channels have shown, in whose place another channel would get them.
 * @param subscriptions of that other channel
 */
export async function shownInstead(
  reads: Pick<Reads, 'card' | 'decisionsOf' | 'messagesOf'>,
  subject: string,
  subscriptions: readonly Subscription[],
  buildEvents: readonly Pick<BuildEvent, 'seq' | 'at'>[],
): Promise<ReadonlySet<number>> {
  const shown = new Set<number>()
  for (const channel of new Set(subscriptions.flatMap(({ insteadOf }) => insteadOf ?? []))) {
    const card = await reads.card({ subject, channel })
    if (card?.queues.post) return new Set()
    // An edit that waits may show what was decided after the last post, and need not show anything new.
    const before = waits(card) ? lastPost(await reads.messagesOf({ subject, channel })) : Number.POSITIVE_INFINITY
    const decided = (await reads.decisionsOf({ subject, channel })).filter(({ decidedAt }) => decidedAt < before)
    const decisions = new Map(decided.map((one) => [one.eventSeq, one.reason]))
    for (const { seq, at } of buildEvents.filter((one) => decisions.has(one.seq))) {
      const notice = { subject: noticeSubject(noticeDay(at)), channel }
      if (decisions.get(seq) !== 'account-notice' || !waits(await reads.card(notice))) shown.add(seq)
    }
  }
  return shown
}

/** Also one that is looked for: while its channel is closed, nobody knows whether it arrived. */
const waits = (card: Card | null): boolean => card !== null && Object.values(card.queues).some((due) => due !== null)

/** When the bot began to post the newest message that arrived (ms); 0: none did. */
const lastPost = (messages: readonly StoredMessage[]): number =>
  Math.max(0, ...messages.filter(({ state }) => state === 'posted').map(({ claimedAt }) => claimedAt))

/** At most this many revisions are woken at once. */
export const WOKEN_MAX = 200

/** Wakes the revisions of which a closed channel has not shown everything, so that the default channel gets them. */
export async function wakeUnshown(tx: Tx, closed: ChannelId, substitute: ChannelId, now: number): Promise<number> {
  const revisions = await tx.unshownIn(closed, substitute, WOKEN_MAX)
  for (const key of revisions) await tx.wakeRevision(key, now, 0)
  return revisions.length
}
