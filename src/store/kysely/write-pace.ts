import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { columns, type Ask } from './ask.ts'

type PaceWrites = Pick<Tx, 'insertCall' | 'forgetCalls' | 'closeChannel' | 'reopenChannel' | 'markTold'>

/** The calls of Slack, and the channels that take none. */
export function writePace(db: Kysely<Schema>, ask: Ask): PaceWrites {
  return {
    async insertCall(call) {
      await ask('insertCall', call, (value) => db.insertInto('pace').values(columns(call, value)))
    },

    async forgetCalls(beforeMs) {
      await db.deleteFrom('pace').where('at', '<', beforeMs).execute()
    },

    async closeChannel({ channel, code, at, retryAt }) {
      const closed = { closed_code: code, closed_at: at, retry_at: retryAt }
      await db
        .insertInto('channel')
        .values({ id: channel, ...closed })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ closed_code: code, retry_at: retryAt }))
        .execute()
    },

    async reopenChannel(channel) {
      await db.deleteFrom('channel').where('id', '=', channel).execute()
    },

    async markTold({ channel, closedAt }, at) {
      const marked = await db
        .updateTable('channel')
        .set({ told_at: at })
        .where('id', '=', channel)
        .where('closed_at', '=', closedAt)
        .where('told_at', 'is', null)
        .returning('id')
        .execute()
      return marked.length > 0
    },
  }
}
