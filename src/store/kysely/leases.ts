import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx, Reads } from '../store.ts'
import type { RunQuery } from './query.ts'

/** Which process sends. To take a lease, its row is deleted first, which waits for transactions that locked it. */
export const writeLeases = (db: Kysely<Schema>, runQuery: RunQuery, locks: boolean) =>
  ({
    async takeLease({ name, heldBy, heldUntil }, { now, longestMs }) {
      await db
        .deleteFrom('lease')
        .where('name', '=', name)
        .where(({ or, eb }) => or([eb('held_until', '<=', now), eb('held_until', '>', now + longestMs)]))
        .execute()
      const taken = await db
        .insertInto('lease')
        .values({ name, held_by: heldBy, held_until: heldUntil })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning('name')
        .execute()
      return taken.length > 0
    },

    async renewLease({ name, heldBy, heldUntil }) {
      const renewed = await runQuery('renewLease', { name, heldBy, heldUntil }, (value) =>
        db
          .updateTable('lease')
          .set({ held_until: value('heldUntil') })
          .where('name', '=', value('name'))
          .where('held_by', '=', value('heldBy'))
          .returning('name'),
      )
      return renewed.length > 0
    },

    async holdsLease({ name, heldBy }) {
      const rows = await runQuery('holdsLease', { name, heldBy }, (value) =>
        db
          .selectFrom('lease')
          .select('name')
          .where('name', '=', value('name'))
          .where('held_by', '=', value('heldBy'))
          // With this lock the lease can be renewed meanwhile, but not deleted.
          .$if(locks, (query) => query.forKeyShare()),
      )
      return rows.length > 0
    },

    async releaseLease({ name, heldBy }) {
      await db.deleteFrom('lease').where('name', '=', name).where('held_by', '=', heldBy).execute()
    },
  }) satisfies Partial<Tx>

export const readJobs = (db: Kysely<Schema>) =>
  ({
    async lastDoneAt(job) {
      const row = await db.selectFrom('job').select('last_done_at').where('name', '=', job).executeTakeFirst()
      return row?.last_done_at ?? null
    },
  }) satisfies Partial<Reads>

export const writeJobs = (db: Kysely<Schema>) =>
  ({
    async setLastDoneAt(job, at) {
      await db
        .insertInto('job')
        .values({ name: job, last_done_at: at })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ last_done_at: at }))
        .execute()
    },
  }) satisfies Partial<Tx>
