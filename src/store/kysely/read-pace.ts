import { sql, type Kysely } from 'kysely'
import type { ChannelId } from '../../domain/ids.ts'
import type { Lane } from '../../domain/plan.ts'
import type { Schema } from '../schema.ts'
import type { CardKey } from '../kept.ts'
import type { Reads } from '../store.ts'
import type { Ask, Value } from './ask.ts'

/** Channels looked at in one round; more than any workspace follows. */
const CHANNELS_MAX = 10_000

/** The priorities that facts come in with. */
const URGENCIES = [0, 1, 2]

type PaceReads = Pick<
  Reads,
  'channelsToPost' | 'dueCards' | 'backlog' | 'oldestNews' | 'oldestStep' | 'recentCalls' | 'closedChannels'
>

/** What is left to do in Slack, and how fast that may go. */
export function readPace(db: Kysely<Schema>, ask: Ask): PaceReads {
  return {
    async channelsToPost() {
      // A walk from one channel to the next along the index: as many steps as channels, however many cards wait.
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

    async dueCards(lane, now, limit, channel, not) {
      const [at, priority] = [`${lane}_at`, `${lane}_priority`] as const
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
      const name = `dueCards ${lane} ${channel === null ? 'anywhere' : 'in a channel'} ${limit}`
      const rows =
        not.length === 0
          ? await ask(name, values, due)
          : await due((one) => values[one])
              .where('channel', 'not in', [...not])
              .execute()
      return rows as CardKey[]
    },

    async backlog() {
      const waiting = async (lane: Lane) => {
        const at = `${lane}_at` as const
        const row = await db
          .selectFrom('card')
          .select(({ fn }) => fn.countAll<number>().as('cards'))
          .where(at, 'is not', null)
          .executeTakeFirstOrThrow()
        return Number(row.cards)
      }
      const count = (from: 'intake' | 'fact') =>
        db.selectFrom(from).select(({ fn }) => fn.countAll<number>().as('rows'))
      const woken = await count('intake').executeTakeFirstOrThrow()
      const fresh = await count('fact').where('episode', 'is', null).executeTakeFirstOrThrow()
      return {
        intake: Number(woken.rows) + Number(fresh.rows),
        post: await waiting('post'),
        edit: await waiting('edit'),
        look: await waiting('look'),
      }
    },

    async oldestNews() {
      // By priority, as the index has them: the smallest time of all would be looked up for each fact of a flood.
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

    async oldestStep(lane, not) {
      const at = `${lane}_at` as const
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
      return rows as { lane: Lane; channel: ChannelId; at: number }[]
    },

    async closedChannels() {
      const rows = await db.selectFrom('channel').selectAll().where('closed_code', 'is not', null).execute()
      return rows.map((row) => ({
        channel: row.id as ChannelId,
        code: row.closed_code!,
        retryAt: row.retry_at ?? 0,
        closedAt: row.closed_at ?? 0,
        toldAt: row.told_at,
      }))
    },
  }
}
