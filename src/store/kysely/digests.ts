import type { Kysely, Selectable } from 'kysely'
import type { Schedule } from '../../domain/digest.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { DigestView } from '../../domain/view.ts'
import type { DigestReads, DigestWrites, StoredDigest, PlannedDigest } from '../digests.ts'
import type { Schema } from '../schema.ts'

/** When channels get digests. */
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
