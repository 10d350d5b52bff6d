import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Tx } from '../store.ts'
import { columns, type Ask } from './ask.ts'
import { fromLanes, fromMessage } from './card-rows.ts'

type CardWrites = Pick<
  Tx,
  'ensureCard' | 'setLanes' | 'setTrouble' | 'insertMessage' | 'updateMessage' | 'deleteMessage'
>

/** What stands in Slack, and what is left to do there. */
export function writeCards(db: Kysely<Schema>, ask: Ask): CardWrites {
  return {
    async ensureCard({ subject, channel, quiet, mention }) {
      const flags = { quiet: quiet ? 1 : 0, mention: mention ? 1 : 0 }
      await ask('ensureCard', { subject, channel, ...flags }, (value) =>
        db
          .insertInto('card')
          .values({
            subject: value('subject'),
            channel: value('channel'),
            ...columns(flags, value),
            attempts: 0,
            plain: 0,
          })
          .onConflict((conflict) => conflict.columns(['subject', 'channel']).doUpdateSet(columns(flags, value))),
      )
    },

    async setLanes({ subject, channel }, lanes) {
      const row = fromLanes(lanes)
      await ask('setLanes', { subject, channel, ...row }, (value) =>
        db
          .updateTable('card')
          .set(columns(row, value))
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel')),
      )
    },

    async setTrouble({ subject, channel }, { attempts, plain, problem }) {
      await db
        .updateTable('card')
        .set({ attempts, plain: plain ? 1 : 0, problem })
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .execute()
    },

    async insertMessage({ subject, channel, ...message }) {
      const row = { subject, channel, ...fromMessage(message) }
      await ask('insertMessage', row, (value) => db.insertInto('message').values(columns(row, value)))
    },

    async updateMessage(key, change) {
      if (Object.keys(change).length === 0) return
      const row = fromMessage(change)
      await ask(`updateMessage ${Object.keys(row).join(' ')}`, { ...row, key }, (value) =>
        db.updateTable('message').set(columns(row, value)).where('key', '=', value('key')),
      )
    },

    async deleteMessage(key) {
      await db.deleteFrom('message').where('key', '=', key).execute()
    },
  }
}
