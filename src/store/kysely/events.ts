import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'

/** What Slack told, which repeats itself. */
export const writeEvents = (db: Kysely<Schema>): Pick<Tx, 'hearEvent' | 'forgetEvents'> => ({
  async hearEvent(id, at) {
    const heard = await db
      .insertInto('event')
      .values({ id, heard_at: at })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .execute()
    return heard.length > 0
  },

  async forgetEvents(heardBefore) {
    await db.deleteFrom('event').where('heard_at', '<', heardBefore).execute()
  },
})
