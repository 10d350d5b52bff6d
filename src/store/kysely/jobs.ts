import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'

/** Which job was done when. */
export const readJobs = (db: Kysely<Schema>): Pick<Reads, 'lastDoneAt'> => ({
  async lastDoneAt(job) {
    const row = await db.selectFrom('job').select('last_done_at').where('name', '=', job).executeTakeFirst()
    return row?.last_done_at ?? null
  },
})

export const writeJobs = (db: Kysely<Schema>): Pick<Tx, 'setLastDoneAt'> => ({
  async setLastDoneAt(job, at) {
    await db
      .insertInto('job')
      .values({ name: job, last_done_at: at })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ last_done_at: at }))
      .execute()
  },
})
