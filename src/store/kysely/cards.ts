import { sql, type Selectable, type Kysely } from 'kysely'
import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import { QUEUES, NO_QUEUES, type Queue, type Queues, type StoredMessage } from '../../domain/cards/plan.ts'
import type { Details } from '../../domain/builds/failure.ts'
import type { Schema } from '../schema.ts'
import type { Card, CardKey } from '../records.ts'
import type { OnNews, Reads, Tx } from '../store.ts'
import { type RunQuery, columns } from './query.ts'
import { mapping } from './rows.ts'
import type { BuildEvent } from '../../domain/builds/build-event.ts'
import { noticeSubject } from '../../domain/builds/revision.ts'
import { CARD_DECISION, DECISION, toStored, STORED_POST } from './build-events.ts'

const toCard = (row: Selectable<Schema['card']>): Card => ({
  subject: row.subject,
  channel: row.channel as ChannelId,
  quiet: row.quiet === 1,
  mention: row.mention === 1,
  ...(row.details !== null && { details: row.details as Details }),
  queues: toQueues(row),
  tries: row.attempts,
  plain: row.plain === 1,
  problem: row.problem,
})

const toQueues = (row: Selectable<Schema['card']>): Queues => {
  const queues = { ...NO_QUEUES }
  for (const queue of QUEUES) {
    const at = row[`${queue}_at`]
    if (at !== null) queues[queue] = { at, priority: row[`${queue}_priority`] ?? 0 }
  }
  return queues
}

const fromQueues = (queues: Queues) => {
  const column = (queue: Queue) => ({
    [`${queue}_at`]: queues[queue]?.at ?? null,
    [`${queue}_priority`]: queues[queue]?.priority ?? null,
  })
  return { ...column('post'), ...column('edit'), ...column('look') } as Partial<Selectable<Schema['card']>>
}

const MESSAGE = mapping<'message', StoredMessage>({
  key: 'key',
  slot: 'slot',
  generation: 'generation',
  state: 'state',
  claimedAt: 'claimed_at',
  claimedBy: 'claimed_by',
  lookedAt: 'looked_at',
  ts: 'ts',
  digest: 'digest',
  sending: 'sending',
  sendingAt: 'sending_at',
  recheckAt: 'recheck_at',
  doubtAt: 'doubt_at',
  writtenAt: 'written_at',
  postedAttempt: 'born_run',
})

export function readCards(db: Kysely<Schema>, runQuery: RunQuery, locks: boolean) {
  const suffix = locks ? 'for update' : ''
  return {
    async card({ subject, channel }) {
      const [row] = await runQuery(`card ${suffix}`, { subject, channel }, (value) =>
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
      const rows = await runQuery('cardsOf', { subject }, (value) =>
        db.selectFrom('card').select(['subject', 'channel']).where('subject', '=', value('subject')),
      )
      return rows as CardKey[]
    },

    async messagesOf({ subject, channel }) {
      const rows = await runQuery('messagesOf', { subject, channel }, (value) =>
        db
          .selectFrom('message')
          .selectAll()
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel'))
          .orderBy('claimed_at'),
      )
      return rows.map(MESSAGE.fromRow)
    },

    async postedCard({ subject, channel }) {
      const [row] = await runQuery('postedCard', { subject, channel }, (value) =>
        db
          .selectFrom('message')
          .select('ts')
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel'))
          .where('slot', '=', sql.lit('card'))
          .where('state', '=', sql.lit('posted'))
          .orderBy('claimed_at', 'desc')
          .limit(sql.lit(1)),
      )
      return (row?.ts ?? null) as MessageTs | null
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
  } satisfies Partial<Reads>
}

export function writeCards(db: Kysely<Schema>, runQuery: RunQuery, onNews: OnNews) {
  return {
    async ensureCard({ subject, channel, quiet, mention, details }) {
      const flags = { quiet: quiet ? 1 : 0, mention: mention ? 1 : 0, details: details ?? null }
      await runQuery('ensureCard', { subject, channel, ...flags }, (value) =>
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

    async setQueues({ subject, channel }, queues) {
      onNews(channel)
      const row = fromQueues(queues)
      await runQuery('setQueues', { subject, channel, ...row }, (value) =>
        db
          .updateTable('card')
          .set(columns(row, value))
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel')),
      )
    },

    async setRetryState({ subject, channel }, { tries, plain, problem }) {
      await db
        .updateTable('card')
        .set({ attempts: tries, plain: plain ? 1 : 0, problem })
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .execute()
    },

    async insertMessage({ subject, channel, ...message }) {
      const row = { ...MESSAGE.toRow(message), subject, channel }
      await runQuery('insertMessage', row, (value) => db.insertInto('message').values(columns(row, value)))
    },

    async updateMessage(key, change) {
      if (Object.keys(change).length === 0) return
      const row = MESSAGE.toRow(change)
      await runQuery(`updateMessage ${Object.keys(row).join(' ')}`, { ...row, key }, (value) =>
        db.updateTable('message').set(columns(row, value)).where('key', '=', value('key')),
      )
    },

    async deleteMessage(key) {
      await db.deleteFrom('message').where('key', '=', key).execute()
    },
  } satisfies Partial<Tx>
}

/** Decisions: who gets which builds, and why. */
export function readDecisions(db: Kysely<Schema>, runQuery: RunQuery) {
  return {
    async decisionsOf({ subject, channel }) {
      const rows = await runQuery('decisionsOf', { subject, channel }, (value) =>
        db
          .selectFrom('decision')
          .select(CARD_DECISION.columns)
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel'))
          .orderBy('fact_seq'),
      )
      return rows.map(CARD_DECISION.fromRow)
    },

    async decisionsOfEvent(eventSeq) {
      const rows = await db
        .selectFrom('decision')
        .selectAll()
        .where('fact_seq', '=', eventSeq)
        .orderBy('channel')
        .execute()
      return rows.map(DECISION.fromRow)
    },

    async unshownIn(channel, undecidedFor, limit) {
      const waiting = sql`card.channel = ${channel}
        and (card.post_at is not null or card.edit_at is not null or card.look_at is not null)`
      const undecided = sql`not exists (select 1 from decision as other
        where other.fact_seq = decision.fact_seq and other.channel = ${undecidedFor})`
      const { rows } = await sql<{ subject: string }>`
        select decision.subject from card
          join decision on decision.subject = card.subject and decision.channel = card.channel
          where ${waiting} and ${undecided}
        union
        select decision.subject from card
          join decision on decision.notice_day = substr(card.subject, ${sql.lit(noticeSubject('').length + 1)})
            and decision.channel = card.channel
          where card.subject like ${sql.lit(noticeSubject('%'))} and ${waiting} and ${undecided}
        limit ${sql.lit(limit)}`.execute(db)
      return [...new Set(rows.map(({ subject }) => subject.split('/')[0]!))]
    },

    async noticeEvents(day, channel, limit) {
      const noted = db
        .selectFrom('fact')
        .innerJoin('decision', 'decision.fact_seq', 'fact.seq')
        .where('decision.notice_day', '=', day)
        .where('decision.channel', '=', channel)
        .where('decision.verdict', '=', STORED_POST)
      const rows: BuildEvent[] = (await noted.selectAll('fact').orderBy('fact.seq').limit(limit).execute()).map(
        toStored,
      )
      const counts = await noted
        .select(({ fn }) => ['fact.word', fn.countAll<number>().as('builds')])
        .groupBy('fact.word')
        .execute()
      return { buildEvents: rows, counts: new Map(counts.map(({ word, builds }) => [word, Number(builds)])) }
    },
  } satisfies Partial<Reads>
}
