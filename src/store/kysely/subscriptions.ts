import { createHash } from 'node:crypto'
import type { Kysely, Selectable } from 'kysely'
import type { ChannelId } from '../../domain/ids.ts'
import type { ReminderRule } from '../../domain/reminder.ts'
import type { ChannelRule } from '../../domain/rule.ts'
import { subscriptionSlot } from '../subscription-slot.ts'
import type { Schema } from '../schema.ts'
import type { StoredSubscription, NewSubscription } from '../records.ts'
import type { Reads, Tx } from '../store.ts'
import type { RunQuery } from './query.ts'

type SubscriptionReads = Pick<Reads, 'subscriptions' | 'subscriptionsOf'>
type SubscriptionWrites = Pick<Tx, 'saveSubscription' | 'removeSubscription'>

/** Subscriptions made in Slack. */
export function readSubscriptions(db: Kysely<Schema>, runQuery: RunQuery): SubscriptionReads {
  return {
    async subscriptions() {
      const rows = await runQuery('subscriptions', {}, () => db.selectFrom('subscription').selectAll().orderBy('id'))
      return rows.map(toSubscription)
    },

    async subscriptionsOf(channel) {
      const rows = await db
        .selectFrom('subscription')
        .selectAll()
        .where('channel', '=', channel)
        .orderBy('id')
        .execute()
      return rows.map(toSubscription)
    },
  }
}

export function writeSubscriptions(db: Kysely<Schema>, locks: boolean): SubscriptionWrites {
  async function current(channel: ChannelId, slot: string): Promise<StoredSubscription | null> {
    const found = db.selectFrom('subscription').selectAll().where('channel', '=', channel).where('slot', '=', slot)
    const row = await (locks ? found.forUpdate() : found).executeTakeFirst()
    if (row) return toSubscription(row)
    // A channel that has got another id may have had two in one slot (`moveChannel`), of which one is left.
    const others = db.selectFrom('subscription').selectAll().where('channel', '=', channel).where('slot', 'is', null)
    const left = (await others.orderBy('id').execute()).map(toSubscription)
    return left.find(({ follows, rules }) => slotKey(subscriptionSlot(follows, rules)) === slot) ?? null
  }

  return {
    async saveSubscription(subscription, { user, at }) {
      const row = fromWanted(subscription)
      const was = await current(subscription.channel, row.slot)
      const kept = was
        ? await db
            .updateTable('subscription')
            .set({ ...row, changed_by: user, changed_at: at })
            .where('id', '=', Number(was.id))
            .returningAll()
            .executeTakeFirstOrThrow()
        : // If another process inserts it at this moment, this write is retried and finds it.
          await db
            .insertInto('subscription')
            .values({ ...row, created_by: user, created_at: at })
            .returningAll()
            .executeTakeFirstOrThrow()
      return { saved: toSubscription(kept), was }
    },

    async removeSubscription(id) {
      if (!ID.test(id)) return null
      const gone = await db.deleteFrom('subscription').where('id', '=', Number(id)).returningAll().executeTakeFirst()
      return gone ? toSubscription(gone) : null
    },
  }
}

/** Ids come back from buttons: one that is no number belongs to no subscription. */
const ID = /^\d{1,15}$/

const fromWanted = ({ channel, follows, rules, quiet, mention, remind }: NewSubscription) => ({
  channel,
  slot: slotKey(subscriptionSlot(follows, rules)),
  follows: JSON.stringify(follows),
  rules: rules === null ? null : JSON.stringify(rules),
  quiet: quiet ? 1 : 0,
  mention,
  remind: remind ? JSON.stringify(remind) : null,
})

// A hash, because a slot holds patterns of any length, and an index takes only short values.
const slotKey = (slot: string): string => createHash('sha256').update(slot).digest('hex').slice(0, 32)

const toSubscription = (row: Selectable<Schema['subscription']>): StoredSubscription => ({
  id: String(row.id),
  channel: row.channel as ChannelId,
  follows: JSON.parse(row.follows) as StoredSubscription['follows'],
  rules: row.rules === null ? null : (JSON.parse(row.rules) as ChannelRule[]),
  quiet: row.quiet === 1,
  mention: row.mention === 'committer' ? 'committer' : 'nobody',
  ...(row.remind !== null && { remind: JSON.parse(row.remind) as ReminderRule }),
  source: 'slack',
  createdBy: row.created_by,
  createdAt: row.created_at,
  changedBy: row.changed_by,
  changedAt: row.changed_at,
})
