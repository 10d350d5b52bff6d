import { sql, type Kysely } from 'kysely'
import type { ChannelId } from '../../domain/ids.ts'
import { LANDING_MAX_MS, type Queue } from '../../domain/cards/plan.ts'
import type { Schema } from '../schema.ts'
import type { CardKey } from '../records.ts'
import type { OnNews, Reads, Tx } from '../store.ts'
import { type RunQuery, type Value, columns } from './query.ts'

/** Channels read in one round; more than any workspace follows. */
const CHANNELS_MAX = 10_000

/** The priorities that new build events have. */
const URGENCIES = [0, 1, 2]

export function readPace(db: Kysely<Schema>, runQuery: RunQuery) {
  return {
    async channelsToPost() {
      // Goes from one channel to the next along the index: as many steps as channels, however many cards wait.
      const { rows } = await sql<{ channel: string }>`
        with recursive step(channel) as (
          select min(channel) from card where post_at is not null
          union all
          select (select min(channel) from card where post_at is not null and channel > step.channel)
          from step where step.channel is not null
        )
        select channel from step where channel is not null limit ${sql.lit(CHANNELS_MAX)}`.execute(db)
      return rows.map(({ channel }) => channel as ChannelId)
    },

    async dueCards(queue, now, limit, channel, not) {
      const [at, priority] = [`${queue}_at`, `${queue}_priority`] as const
      const values = { now, channel: channel ?? '' }
      const due = (value: Value<typeof values>) =>
        db
          .selectFrom('card')
          .select(['subject', 'channel'])
          .where(at, '<=', value('now'))
          .$if(channel !== null, (query) => query.where('channel', '=', value('channel')))
          .orderBy(priority)
          .orderBy(at)
          .limit(sql.lit(limit))
      const name = `dueCards ${queue} ${channel === null ? 'anywhere' : 'in a channel'} ${limit}`
      const rows =
        not.length === 0
          ? await runQuery(name, values, due)
          : await due((one) => values[one])
              .where('channel', 'not in', [...not])
              .execute()
      return rows as CardKey[]
    },

    async nextStepAt(now) {
      const values = { now }
      const rows = await runQuery('nextStepAt', values, (value) => {
        const next = (queue: Queue) => {
          const at = `${queue}_at` as const
          return db
            .selectFrom('card')
            .select(({ fn }) => fn.min(at).as('at'))
            .where(at, '>', value('now'))
        }
        return next('post').unionAll(next('edit')).unionAll(next('look'))
      })
      const times = rows.flatMap(({ at }) => at ?? [])
      return times.length === 0 ? null : Math.min(...times)
    },

    async backlog(now) {
      const waiting = async (queue: Queue) => {
        const at = `${queue}_at` as const
        const row = await db
          .selectFrom('card')
          .select(({ fn }) => fn.countAll<number>().as('cards'))
          .where(at, 'is not', null)
          .where((is) =>
            is.or([is(at, '<=', now + LANDING_MAX_MS), is('attempts', '>', 0), is('problem', 'is not', null)]),
          )
          .executeTakeFirstOrThrow()
        return Number(row.cards)
      }
      const count = (from: 'intake' | 'fact') =>
        db.selectFrom(from).select(({ fn }) => fn.countAll<number>().as('rows'))
      const woken = await count('intake').executeTakeFirstOrThrow()
      const fresh = await count('fact').where('episode', 'is', null).executeTakeFirstOrThrow()
      return {
        ingest: Number(woken.rows) + Number(fresh.rows),
        post: await waiting('post'),
        edit: await waiting('edit'),
        look: await waiting('look'),
      }
    },

    async oldestNews() {
      // One query per priority, along the index. A plain `min(at)` would read every waiting build event of a flood.
      const firsts = await Promise.all(
        URGENCIES.map((urgency) =>
          db
            .selectFrom('fact')
            .select('at')
            .where('episode', 'is', null)
            .where('priority', '>=', sql.lit(urgency))
            .orderBy('priority')
            .orderBy('seq')
            .limit(sql.lit(1))
            .executeTakeFirst(),
        ),
      )
      const all = firsts.flatMap((first) => first?.at ?? [])
      return all.length === 0 ? null : Math.min(...all)
    },

    async oldestStep(queue, not) {
      const at = `${queue}_at` as const
      const steps = db
        .selectFrom('card')
        .select(({ fn }) => fn.min(at).as('since'))
        .where(at, 'is not', null)
      const row = await (not.length > 0 ? steps.where('channel', 'not in', [...not]) : steps).executeTakeFirst()
      return row?.since ?? null
    },

    async recentCalls(sinceMs) {
      const rows = await db
        .selectFrom('pace')
        .select(['lane', 'channel', 'at'])
        .where('at', '>=', sinceMs)
        .orderBy('at')
        .execute()
      return rows.map(({ lane, channel, at }) => ({ queue: lane as Queue, channel: channel as ChannelId, at }))
    },

    async closedChannels() {
      const rows = await runQuery('closedChannels', {}, () =>
        db.selectFrom('channel').selectAll().where('closed_code', 'is not', null),
      )
      return rows.map((row) => ({
        channel: row.id as ChannelId,
        code: row.closed_code!,
        retryAt: row.retry_at ?? 0,
        closedAt: row.closed_at ?? 0,
        notifiedAt: row.told_at,
      }))
    },
  } satisfies Partial<Reads>
}

export function writePace(db: Kysely<Schema>, runQuery: RunQuery, onNews: OnNews) {
  return {
    async insertCall({ queue: lane, channel, at }) {
      const call = { lane, channel, at }
      await runQuery('insertCall', call, (value) => db.insertInto('pace').values(columns(call, value)))
    },

    async forgetCalls(beforeMs) {
      await runQuery('forgetCalls', { beforeMs }, (value) => db.deleteFrom('pace').where('at', '<', value('beforeMs')))
    },

    async closeChannel({ channel, code, at, retryAt }) {
      onNews(channel)
      const closed = { closed_code: code, closed_at: at, retry_at: retryAt }
      await db
        .insertInto('channel')
        .values({ id: channel, ...closed })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ closed_code: code, retry_at: retryAt }))
        .execute()
    },

    async reopenChannel(channel) {
      onNews(channel)
      await runQuery('reopenChannel', { channel }, (value) =>
        db.deleteFrom('channel').where('id', '=', value('channel')),
      )
    },

    async markNotified({ channel, closedAt }, at) {
      const marked = await db
        .updateTable('channel')
        .set({ told_at: at })
        .where('id', '=', channel)
        .where('closed_at', '=', closedAt)
        .where('told_at', 'is', null)
        .returning('id')
        .execute()
      return marked.length > 0
    },
  } satisfies Partial<Tx>
}
