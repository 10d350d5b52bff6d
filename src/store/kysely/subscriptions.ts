import { createHash } from 'node:crypto'
import type { Kysely, Selectable } from 'kysely'
import type { ChannelId } from '../../domain/ids.ts'
import type { Details } from '../../domain/builds/failure.ts'
import type { ReminderRule } from '../../domain/builds/reminder.ts'
import type { ChannelRule } from '../../domain/rules/rule.ts'
import { subscriptionSlot } from '../../domain/rules/subscription.ts'
import type { Schema } from '../schema.ts'
import type {
  StoredSubscription,
  NewSubscription,
  DigestReads,
  DigestWrites,
  StoredDigest,
  PlannedDigest,
} from '../records.ts'
import type { Reads, Tx } from '../store.ts'
import type { RunQuery } from './query.ts'
import type { Schedule } from '../../domain/rules/digest.ts'
import type { DigestView } from '../../domain/cards/view.ts'

export function readSubscriptions(db: Kysely<Schema>, runQuery: RunQuery) {
  return {
    async subscriptions() {
      const rows = await runQuery('subscriptions', {}, () => db.selectFrom('subscription').selectAll().orderBy('id'))
      return rows.map(toSubscription)
    },

    async subscriptionsOf(channel) {
      const own = db.selectFrom('subscription').selectAll().where('channel', '=', channel)
      return (await own.orderBy('id').execute()).map(toSubscription)
    },
  } satisfies Partial<Reads>
}

export function writeSubscriptions(db: Kysely<Schema>, locks: boolean) {
  async function current(channel: ChannelId, slot: string): Promise<StoredSubscription | null> {
    const found = db.selectFrom('subscription').selectAll().where('channel', '=', channel).where('slot', '=', slot)
    const row = await (locks ? found.forUpdate() : found).executeTakeFirst()
    if (row) return toSubscription(row)
    // An earlier version may have left one without a slot when the channel got another id.
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
  } satisfies Partial<Tx>
}

/** Ids come back from buttons: one that is not a number matches no subscription. */
const ID = /^\d{1,15}$/

const fromWanted = ({ channel, follows, rules, quiet, mention, details, remind }: NewSubscription) => ({
  channel,
  slot: slotKey(subscriptionSlot(follows, rules)),
  follows: JSON.stringify(follows),
  rules: rules === null ? null : JSON.stringify(rules),
  quiet: quiet ? 1 : 0,
  mention,
  details: details ?? null,
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
  ...(row.details !== null && { details: row.details as Details }),
  ...(row.remind !== null && { remind: JSON.parse(row.remind) as ReminderRule }),
  source: 'slack',
  createdBy: row.created_by,
  createdAt: row.created_at,
  changedBy: row.changed_by,
  changedAt: row.changed_at,
})

export const readDigests = (db: Kysely<Schema>): DigestReads => ({
  async digest(channel) {
    const row = await db.selectFrom('digest').selectAll().where('channel', '=', channel).executeTakeFirst()
    return row ? toDigest(row) : null
  },

  async digestsDue(now) {
    const rows = await db.selectFrom('digest').selectAll().where('next_at', '<=', now).orderBy('next_at').execute()
    return rows.map(toDigest)
  },

  async digestsAfter(at) {
    return (await db.selectFrom('digest').selectAll().where('next_at', '>', at).execute()).map(toDigest)
  },
})

export const writeDigests = (db: Kysely<Schema>): DigestWrites => ({
  async saveDigest({ channel, schedule, setBy, setAt, nextAt }) {
    const row = { ...schedule, set_by: setBy, set_at: setAt, next_at: nextAt }
    await db
      .insertInto('digest')
      .values({ channel, ...row })
      .onConflict((conflict) => conflict.column('channel').doUpdateSet(row))
      .execute()
  },

  async removeDigest(channel) {
    const { numDeletedRows } = await db.deleteFrom('digest').where('channel', '=', channel).executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },

  async advanceDigest({ channel, nextAt, setAt }, to) {
    const { numUpdatedRows } = await db
      .updateTable('digest')
      .set({ next_at: to.nextAt, ...(to.planned && fromPlanned(to.planned)) })
      .where('channel', '=', channel)
      .where('next_at', '=', nextAt)
      .where('set_at', '=', setAt)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },
})

const toDigest = (row: Selectable<Schema['digest']>): StoredDigest => ({
  channel: row.channel as ChannelId,
  schedule: { kind: row.kind as Schedule['kind'], weekday: row.weekday, minute: row.minute, zone: row.zone },
  setBy: row.set_by,
  setAt: row.set_at,
  nextAt: row.next_at,
  last: row.period === null ? null : toPlanned(row, row.period),
})

const toPlanned = (row: Selectable<Schema['digest']>, period: string): PlannedDigest => ({
  period,
  dueAt: row.due_at ?? 0,
  plannedAt: row.planned_at ?? 0,
  view: JSON.parse(row.view ?? '') as DigestView,
})

const fromPlanned = ({ period, dueAt, plannedAt, view }: PlannedDigest) => ({
  period,
  due_at: dueAt,
  planned_at: plannedAt,
  view: JSON.stringify(view),
})
