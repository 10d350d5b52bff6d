import { sql, type Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'

type SlotWrites = Pick<
  Tx,
  'callOf' | 'setCall' | 'takePostSlot' | 'takeWindowSlot' | 'leaveSlot' | 'dropSlot' | 'blockSlot'
>

/** The calls to Slack of all processes that share the database: one for each card, and so many in a time. */
export function writeSlots(db: Kysely<Schema>, locks: boolean): SlotWrites {
  /** Takes the row for this write, whoever wrote it before. @returns until when nothing may be sent (ms) */
  async function windowRow(lane: string): Promise<number> {
    const row = await db
      .insertInto('slot')
      .values({ lane, channel: ALL, free_at: 0, call: null })
      .onConflict((conflict) => conflict.columns(['lane', 'channel']).doUpdateSet({ call: null }))
      .returning('free_at')
      .executeTakeFirstOrThrow()
    return row.free_at
  }

  return {
    async callOf({ subject, channel }) {
      const row = await db
        .selectFrom('card')
        .select(['call', 'call_by'])
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .$if(locks, (query) => query.forUpdate().skipLocked())
        .executeTakeFirst()
      if (!row) return 'elsewhere'
      return row.call === null ? null : { call: row.call, by: row.call_by ?? '' }
    },

    async setCall({ subject, channel }, call) {
      await db
        .updateTable('card')
        .set({ call: call?.call ?? null, call_by: call?.by ?? null })
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .execute()
    },

    async takePostSlot(channel, call, { now, until }) {
      const held = { free_at: until, call }
      const taken = await db
        .insertInto('slot')
        .values({ lane: POST, channel, ...held })
        .onConflict((conflict) =>
          conflict.columns(['lane', 'channel']).doUpdateSet(held).where('slot.free_at', '<=', now),
        )
        .returning('channel')
        .execute()
      if (taken.length > 0) return null
      const row = await db
        .selectFrom('slot')
        .select(['free_at', 'call'])
        .where('lane', '=', POST)
        .where('channel', '=', channel)
        .executeTakeFirst()
      return { freeAt: row?.free_at ?? now, isUnderWay: (row?.call ?? null) !== null }
    },

    async takeWindowSlot(lane, channel, call, { now, until, windowMs, max }) {
      const blockedUntil = await windowRow(lane)
      const full = await db
        .selectFrom('pace')
        .select('at')
        .where('lane', '=', lane)
        .where('at', '>', now - windowMs)
        .orderBy('at', 'desc')
        .offset(max - 1)
        .limit(1)
        .executeTakeFirst()
      const freeAt = Math.max(blockedUntil, full ? full.at + windowMs : 0)
      if (freeAt > now) return { freeAt, isUnderWay: false }
      await db.insertInto('pace').values({ lane, channel, at: until, call }).execute()
      return null
    },

    async leaveSlot(call, { arrivedAt, postGapMs }) {
      await db.updateTable('pace').set({ at: arrivedAt, call: null }).where('call', '=', call).execute()
      await db
        .updateTable('slot')
        .set({ free_at: arrivedAt + postGapMs, call: null })
        .where('call', '=', call)
        .execute()
    },

    async dropSlot(call, now) {
      await db.deleteFrom('pace').where('call', '=', call).execute()
      await db.updateTable('slot').set({ free_at: now, call: null }).where('call', '=', call).execute()
    },

    async blockSlot(lane, channel, until) {
      const row = { lane, channel: lane === POST ? channel : ALL }
      await db
        .insertInto('slot')
        .values({ ...row, free_at: until, call: null })
        .onConflict((conflict) =>
          conflict
            .columns(['lane', 'channel'])
            .doUpdateSet({ free_at: until, call: null })
            .where('slot.free_at', '<', sql.val(until)),
        )
        .execute()
    },
  }
}

const POST = 'post'

/** Edits and look-ups are limited by workspace. */
const ALL = '*'
