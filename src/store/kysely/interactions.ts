import { sql, type Kysely, type Selectable } from 'kysely'
import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import type { StoredInteraction } from '../records.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import type { RunQuery } from './query.ts'

/** Interactions from Slack that still need an answer. */
export function readInteractions(db: Kysely<Schema>, locks: boolean) {
  return {
    async interactionsOf(interactionKey) {
      const found = db.selectFrom('interaction').select(COLUMNS).where('ask_key', '=', interactionKey)
      // Locked, so that one process cannot give it up while another one is about to call CI for it.
      return (await (locks ? found.forUpdate() : found).execute()).map(toInteraction)
    },

    async unansweredInteractions(limit) {
      const rows = await db
        .selectFrom('interaction')
        .select(COLUMNS)
        .where('state', '<>', sql.lit('told'))
        .orderBy('received_at')
        .limit(limit)
        .execute()
      return rows.map(toInteraction)
    },

    async interactionBody(id) {
      const row = await db.selectFrom('interaction').select('body').where('id', '=', id).executeTakeFirst()
      return row?.body ?? null
    },
  } satisfies Partial<Reads>
}

/** All but the body, which may be large. */
const COLUMNS = [
  'id',
  'ask_key',
  'state',
  'user_id',
  'what',
  'channel',
  'thread_ts',
  'response_url',
  'received_at',
  'claimed_by',
  'claimed_at',
] as const

/** A process is handling it, in time or late. */
const UNDER_WAY = [sql.lit('owed'), sql.lit('late')]

export function writeInteractions(db: Kysely<Schema>, runQuery: RunQuery) {
  return {
    async insertInteraction(interaction, body = null) {
      const row = { ...fromInteraction(interaction), body }
      await runQuery('insertInteraction', row, (value) =>
        db.insertInto('interaction').values({
          id: value('id'),
          ask_key: value('ask_key'),
          state: value('state'),
          user_id: value('user_id'),
          what: value('what'),
          channel: value('channel'),
          thread_ts: value('thread_ts'),
          response_url: value('response_url'),
          body: value('body'),
          received_at: value('received_at'),
          claimed_by: value('claimed_by'),
          claimed_at: value('claimed_at'),
        }),
      )
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

const fromInteraction = (interaction: StoredInteraction) => ({
  id: interaction.id,
  ask_key: interaction.interactionKey,
  state: interaction.state,
  user_id: interaction.user,
  what: interaction.what,
  channel: interaction.channel,
  thread_ts: interaction.threadTs,
  response_url: interaction.responseUrl,
  received_at: interaction.receivedAt,
  claimed_by: interaction.claimedBy,
  claimed_at: interaction.claimedAt,
})

const toInteraction = (row: Omit<Selectable<Schema['interaction']>, 'body'>): StoredInteraction => ({
  id: row.id,
  interactionKey: row.ask_key,
  state: row.state as StoredInteraction['state'],
  user: row.user_id,
  what: row.what,
  channel: row.channel as ChannelId | null,
  threadTs: row.thread_ts as MessageTs | null,
  responseUrl: row.response_url,
  receivedAt: row.received_at,
  claimedBy: row.claimed_by,
  claimedAt: row.claimed_at,
})

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
