import { sql, type Kysely } from 'kysely'
import type { CallUnderWay } from '../kept.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'

type PresenceReads = Pick<Reads, 'hasLapsed'>
type PresenceWrites = Pick<Tx, 'renewPresence' | 'isPresent' | 'endPresence' | 'takeOver'>

/** Which of the processes that share the database are alive. */
export const readPresence = (db: Kysely<Schema>): PresenceReads => ({
  async hasLapsed(now) {
    const row = await db.selectFrom('presence').select('id').where('alive_until', '<=', now).executeTakeFirst()
    return row !== undefined
  },
})

export function writePresence(db: Kysely<Schema>, locks: boolean): PresenceWrites {
  async function bury(now: number, by: string): Promise<string[]> {
    const lapsed = db
      .selectFrom('presence')
      .select('id')
      .where('alive_until', '<=', now)
      .where('id', '<>', by)
      // Whoever else is at it has it.
      .$if(locks, (query) => query.forUpdate().skipLocked())
    const gone = await db.deleteFrom('presence').where('id', 'in', lapsed).returning('id').execute()
    return gone.map(({ id }) => id)
  }

  return {
    async renewPresence(id, aliveUntil) {
      const kept = await db
        .updateTable('presence')
        .set({ alive_until: aliveUntil })
        .where('id', '=', id)
        .returning('id')
        .execute()
      if (kept.length > 0) return 'kept'
      await db.insertInto('presence').values({ id, alive_until: aliveUntil }).execute()
      return 'begun'
    },

    async isPresent(id, now) {
      const own = db.selectFrom('presence').select('id').where('id', '=', id).where('alive_until', '>', now)
      // It may be renewed meanwhile, and not be taken over before this write has ended.
      return (await (locks ? own.forKeyShare() : own).executeTakeFirst()) !== undefined
    },

    async endPresence(id) {
      await db.deleteFrom('presence').where('id', '=', id).execute()
    },

    async takeOver(now, by) {
      const dead = await bury(now, by)
      if (dead.length === 0) return { dead, calls: [] }
      const calls = await db
        .selectFrom('card')
        .select(['subject', 'channel', 'call'])
        .where('call_by', 'in', dead)
        .$if(locks, (query) => query.forUpdate())
        .execute()
      await db.deleteFrom('lease').where('held_by', 'in', dead).execute()
      // As old as can be: whoever looks next for what is left without an answer finds it.
      const owed = db.updateTable('interaction').set({ claimed_at: 0 }).where('claimed_by', 'in', dead)
      await owed.where('state', '<>', sql.lit('told')).execute()
      return { dead, calls: calls as CallUnderWay[] }
    },
  }
}
