import { sql, type Kysely } from 'kysely'
import type { StoredInteraction } from '../records.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import { columns, type RunQuery } from './query.ts'
import { mapping } from './rows.ts'

export function readInteractions(db: Kysely<Schema>, locks: boolean) {
  return {
    async interactionsOf(interactionKey) {
      const found = db.selectFrom('interaction').select(INTERACTION.columns).where('ask_key', '=', interactionKey)
      // Locked, so that one process cannot give it up while another one is about to call CI for it.
      return (await (locks ? found.forUpdate() : found).execute()).map(INTERACTION.fromRow)
    },

    async unansweredInteractions(limit) {
      const rows = await db
        .selectFrom('interaction')
        .select(INTERACTION.columns)
        .where('state', '<>', sql.lit('told'))
        .orderBy('received_at')
        .limit(limit)
        .execute()
      return rows.map(INTERACTION.fromRow)
    },

    async interactionBody(id) {
      const row = await db.selectFrom('interaction').select('body').where('id', '=', id).executeTakeFirst()
      return row?.body ?? null
    },
  } satisfies Partial<Reads>
}

/** All but the body, which may be large. */
const INTERACTION = mapping<'interaction', StoredInteraction>({
  id: 'id',
  interactionKey: 'ask_key',
  state: 'state',
  user: 'user_id',
  what: 'what',
  channel: 'channel',
  threadTs: 'thread_ts',
  responseUrl: 'response_url',
  receivedAt: 'received_at',
  claimedBy: 'claimed_by',
  claimedAt: 'claimed_at',
})

/** A process is handling it, in time or late. */
const UNDER_WAY = [sql.lit('owed'), sql.lit('late')]

export function writeInteractions(db: Kysely<Schema>, runQuery: RunQuery) {
  return {
    async insertInteraction(interaction, body = null) {
      const row = { ...INTERACTION.toRow(interaction), body }
      await runQuery('insertInteraction', row, (value) => db.insertInto('interaction').values(columns(row, value)))
    },

    async renewInteractions(ids, { claimedBy, claimedAt }) {
      await db
        .updateTable('interaction')
        .set({ claimed_at: claimedAt })
        .where('id', 'in', [...ids])
        .where('claimed_by', '=', claimedBy)
        .where('state', 'in', UNDER_WAY)
        .execute()
    },

    async claimInteraction(id, stood, { state, claimedBy, claimedAt }) {
      const claimed = await db
        .updateTable('interaction')
        .set({ state, claimed_by: claimedBy, claimed_at: claimedAt })
        .where('id', '=', id)
        .where('state', '<>', 'told')
        .where('claimed_by', '=', stood.claimedBy)
        .where(({ or, eb }) => or([eb('claimed_by', '=', claimedBy), eb('claimed_at', '=', stood.claimedAt)]))
        .returning('id')
        .execute()
      return claimed.length > 0
    },

    async settleInteraction(id) {
      await runQuery('settleInteraction', { id }, (value) =>
        db.deleteFrom('interaction').where('id', '=', value('id')).where('state', 'in', UNDER_WAY),
      )
    },

    async markInteractionNotified(id) {
      await db
        .updateTable('interaction')
        .set({ state: 'told', response_url: null, body: null })
        .where('id', '=', id)
        .execute()
    },

    async forgetInteractions(receivedBeforeMs) {
      const gone = await db
        .deleteFrom('interaction')
        .where('received_at', '<', receivedBeforeMs)
        .returning('state')
        .execute()
      return gone.filter(({ state }) => state !== 'told').length
    },
  } satisfies Partial<Tx>
}

/** Requests received from Slack. The table is named after what it held first: events. */
export const writeEvents = (db: Kysely<Schema>) =>
  ({
    async rememberRequest(id, at, lastTakenBefore = 0) {
      const remembered = await db
        .insertInto('event')
        .values({ id, heard_at: at })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ heard_at: at }).where('event.heard_at', '<', lastTakenBefore),
        )
        .returning('id')
        .execute()
      return remembered.length > 0
    },

    async forgetRequests(takenBefore) {
      await db.deleteFrom('event').where('heard_at', '<', takenBefore).execute()
    },
  }) satisfies Partial<Tx>
