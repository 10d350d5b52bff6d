import type { Kysely } from 'kysely'
import { normalHandle } from '../../domain/handle.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import type { RunQuery } from './query.ts'

export function readPeople(db: Kysely<Schema>, runQuery: RunQuery, locks: boolean) {
  return {
    async personOf(handle) {
      const [row] = await runQuery('personOf', { handle: normalHandle(handle) }, (value) =>
        db
          .selectFrom('person')
          .leftJoin('person_setting', 'person_setting.user_id', 'person.user_id')
          .select(['person.user_id', 'person_setting.mentions'])
          .where('person.handle', '=', value('handle'))
          .where('person.inactive_at', 'is', null),
      )
      return row && wantsMentions(row) ? row.user_id : null
    },

    async isClaimed(handle) {
      const rows = await runQuery('isClaimed', { handle: normalHandle(handle) }, (value) =>
        db.selectFrom('person').select('user_id').where('handle', '=', value('handle')),
      )
      return rows.length > 0
    },

    async handlesOf(user) {
      const own = db.selectFrom('person').select(['handle', 'claimed_at as at']).where('user_id', '=', user)
      return own.orderBy('claimed_at').orderBy('handle').execute()
    },

    async claimOf(handle) {
      const claims = db
        .selectFrom('person')
        .select(['user_id as user', 'claimed_at as at', 'inactive_at as inactiveAt'])
      const found = claims.where('handle', '=', normalHandle(handle))
      return (await (locks ? found.forUpdate() : found).executeTakeFirst()) ?? null
    },

    async mentionsOf(user) {
      const setting = db.selectFrom('person_setting').select('mentions').where('user_id', '=', user)
      return wantsMentions((await setting.executeTakeFirst()) ?? { mentions: null })
    },

    async claimantsToCheck(before, limit) {
      const rows = await db
        .selectFrom('person')
        .select(['checked_at', 'user_id'])
        .distinct()
        .where('checked_at', '<', before)
        .orderBy('checked_at')
        .orderBy('user_id')
        .limit(limit)
        .execute()
      // A person's newer claim may have another check time than their older ones.
      return [...new Set(rows.map((row) => row.user_id))]
    },
  } satisfies Partial<Reads>
}

export function writePeople(db: Kysely<Schema>, runQuery: RunQuery, locks: boolean) {
  const { claimOf } = readPeople(db, runQuery, locks)

  async function claimHandle(handle: string, userId: string, at: number): Promise<boolean> {
    const claimed = await db
      .insertInto('person')
      .values({ handle: normalHandle(handle), user_id: userId, claimed_at: at })
      .onConflict((conflict) => conflict.column('handle').doNothing())
      .returning('handle')
      .execute()
    return claimed.length > 0
  }

  return {
    claimHandle,

    async giveHandle(handle, userId, at) {
      // Tries to claim it first: if two people are given it at once, the later call returns the earlier owner.
      if (await claimHandle(handle, userId, at)) return null
      const was = await claimOf(handle)
      await db
        .updateTable('person')
        .set({ user_id: userId, claimed_at: at, inactive_at: null, checked_at: NEVER })
        .where('handle', '=', normalHandle(handle))
        .execute()
      return was?.user ?? null
    },

    async releaseHandle(handle) {
      const gone = await db
        .deleteFrom('person')
        .where('handle', '=', normalHandle(handle))
        .returning('user_id')
        .executeTakeFirst()
      return gone?.user_id ?? null
    },

    async setMentions(userId, on) {
      const setting = { mentions: on ? 1 : 0 }
      await db
        .insertInto('person_setting')
        .values({ user_id: userId, ...setting })
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet(setting))
        .execute()
    },

    async setInactive(userId, at) {
      const own = db.updateTable('person').set({ inactive_at: at }).where('user_id', '=', userId)
      // If the person is found to be gone again, the first time stays.
      await (at === null ? own : own.where('inactive_at', 'is', null)).execute()
    },

    async setChecked(userId, at) {
      await db.updateTable('person').set({ checked_at: at }).where('user_id', '=', userId).execute()
    },
  } satisfies Partial<Tx>
}

const NEVER = 0

const wantsMentions = ({ mentions }: { mentions: number | null }): boolean => mentions !== 0
