import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { CardKey } from '../kept.ts'
import type { Reads } from '../store.ts'
import type { Ask } from './ask.ts'
import { toCard, toMessage } from './card-rows.ts'

type CardReads = Pick<Reads, 'card' | 'cardsOf' | 'messagesOf' | 'subjectOf'>

/** What stands in Slack, and what it is about. */
export function readCards(db: Kysely<Schema>, ask: Ask, locks: boolean): CardReads {
  const suffix = locks ? 'for update' : ''
  return {
    async card({ subject, channel }) {
      const [row] = await ask(`card ${suffix}`, { subject, channel }, (value) =>
        db
          .selectFrom('card')
          .selectAll()
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel'))
          .$if(locks, (query) => query.forUpdate()),
      )
      return row ? toCard(row) : null
    },

    async cardsOf(subject) {
      const rows = await ask('cardsOf', { subject }, (value) =>
        db.selectFrom('card').select(['subject', 'channel']).where('subject', '=', value('subject')),
      )
      return rows as CardKey[]
    },

    async messagesOf({ subject, channel }) {
      const rows = await ask('messagesOf', { subject, channel }, (value) =>
        db
          .selectFrom('message')
          .selectAll()
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel'))
          .orderBy('claimed_at'),
      )
      return rows.map(toMessage)
    },

    async subjectOf(channel, ts) {
      const row = await db
        .selectFrom('message')
        .select('subject')
        .where('channel', '=', channel)
        .where('ts', '=', ts)
        .executeTakeFirst()
      return row?.subject ?? null
    },
  }
}
