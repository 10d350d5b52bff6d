import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'

/** The requests of Slack that were taken: a table named for what it held first, events. */
export const writeEvents = (db: Kysely<Schema>): Pick<Tx, 'rememberRequest' | 'forgetRequests'> => ({
  async rememberRequest(id, at) {
    const heard = await db
      .insertInto('event')
      .values({ id, heard_at: at })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .execute()
    return heard.length > 0
  },

  async forgetRequests(takenBefore) {
    await db.deleteFrom('event').where('heard_at', '<', takenBefore).execute()
  },
})
