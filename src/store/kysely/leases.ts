import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'

/** Which process is at which scheduled work. */
export const writeLeases = (db: Kysely<Schema>): Pick<Tx, 'takeLease' | 'releaseLease'> => ({
  async takeLease({ name, heldBy, heldUntil }, { now, longestMs }) {
    const held = { held_by: heldBy, held_until: heldUntil }
    const taken = await db
      .insertInto('lease')
      .values({ name, ...held })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet(held)
          .where(({ or, eb }) =>
            or([
              eb('lease.held_by', '=', heldBy),
              eb('lease.held_until', '<=', now),
              eb('lease.held_until', '>', now + longestMs),
            ]),
          ),
      )
      .returning('name')
      .execute()
    return taken.length > 0
  },

  async releaseLease({ name, heldBy }) {
    const gone = db.deleteFrom('lease').where('name', '=', name).where('held_by', '=', heldBy)
    return (await gone.returning('name').execute()).length > 0
  },
})
