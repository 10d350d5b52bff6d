import { sql, type Kysely } from 'kysely'
import type { Fact } from '../../domain/fact.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { Lane } from '../../domain/plan.ts'
import type { Schema } from '../schema.ts'
import type { CardKey, Reads } from '../store.ts'
import type { DoorQueries } from './door.ts'
import { toCard, toDecision, toMessage, toPlacedFact, toProject, toSubscription } from './rows.ts'

/** Channels looked at in one round; more than any workspace follows. */
const CHANNELS_MAX = 10_000

export function createReads(db: Kysely<Schema>, door: DoorQueries, { locks } = { locks: false }): Reads {
  const facts = () => db.selectFrom('fact').selectAll()
  const buildKeys = (lineageKey: string, buildIds: readonly string[]) =>
    facts()
      .where('lineage_key', '=', lineageKey)
      .where('build_id', 'in', [...buildIds])
      .orderBy('seq')

  return {
    async factsOfBuild(projectId, buildId) {
      const rows = await door.factsOfBuild.execute(db, { build_key: `${projectId}/${buildId}` })
      return rows.toReversed().map(toPlacedFact)
    },

    async factsOfBuilds(lineageKey, buildIds) {
      if (buildIds.length === 0) return []
      return (await buildKeys(lineageKey, buildIds).execute()).map(toPlacedFact)
    },

    async unplacedFacts(lineageKey) {
      const rows = await facts()
        .where('lineage_key', '=', lineageKey)
        .where('episode', 'is', null)
        .orderBy('seq')
        .execute()
      return rows.map(toPlacedFact)
    },

    async factsOfEpisode(lineageKey, episode) {
      const rows = await facts()
        .where('lineage_key', '=', lineageKey)
        .where('episode', '=', episode)
        .orderBy('seq')
        .execute()
      return rows.map(toPlacedFact)
    },

    async newestEpisode(lineageKey) {
      const ofLineage = db.selectFrom('fact').where('lineage_key', '=', lineageKey).where('episode', 'is not', null)
      const row = await ofLineage
        .select(({ fn }) => [
          fn.max('at').as('last_at'),
          fn.countAll<number>().as('facts'),
          fn.max('episode').as('episode'),
        ])
        .where(
          'episode',
          '=',
          ofLineage.select(({ fn }) => fn.max('episode').as('newest')),
        )
        .executeTakeFirst()
      if (!row || row.episode === null) return null
      return { episode: row.episode, lastAt: Number(row.last_at), facts: Number(row.facts) }
    },

    async verdictsBefore(branchKey, buildOrder, limit) {
      const rows = await facts()
        .where('branch_key', '=', branchKey)
        .where('verdict', '=', sql.lit(1))
        .where('build_order', '<=', buildOrder)
        .orderBy('build_order', 'desc')
        .limit(limit)
        .execute()
      return rows.map(toPlacedFact)
    },

    async isOvertaken(branchKey, buildOrder, seq) {
      const newer = await facts()
        .where('branch_key', '=', branchKey)
        .where('verdict', '=', sql.lit(1))
        .where('build_order', '>', buildOrder)
        .where('seq', '<', seq)
        .clearSelect()
        .select('seq')
        .limit(1)
        .execute()
      return newer.length > 0
    },

    async verdictsAfter(branchKey, buildOrder, limit) {
      const rows = await facts()
        .where('branch_key', '=', branchKey)
        .where('verdict', '=', sql.lit(1))
        .where('build_order', '>', buildOrder)
        .orderBy('build_order')
        .limit(limit)
        .execute()
      return rows.map(toPlacedFact)
    },

    async dueIntake(now, limit) {
      const rows = await db
        .selectFrom('intake')
        .select(['lineage_key', 'stamp'])
        .where('due_at', '<=', now)
        .orderBy('priority')
        .orderBy('due_at')
        .limit(limit)
        .execute()
      return rows.map(({ lineage_key: lineageKey, stamp }) => ({ lineageKey, stamp }))
    },

    async intakeOf(lineageKey) {
      const row = await db
        .selectFrom('intake')
        .select('stamp')
        .where('lineage_key', '=', lineageKey)
        .$if(locks, (query) => query.forUpdate())
        .executeTakeFirst()
      return row ? { lineageKey, stamp: row.stamp } : null
    },

    async decisionsOf({ subject, channel }) {
      const rows = await db
        .selectFrom('decision')
        .selectAll()
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .orderBy('fact_seq')
        .execute()
      return rows.map(toDecision)
    },

    async decisionsOfFact(factSeq) {
      const rows = await db
        .selectFrom('decision')
        .selectAll()
        .where('fact_seq', '=', factSeq)
        .orderBy('channel')
        .execute()
      return rows.map(toDecision)
    },

    async noticeFacts(day, channel, limit) {
      const noted = db
        .selectFrom('fact')
        .innerJoin('decision', 'decision.fact_seq', 'fact.seq')
        .where('decision.notice_day', '=', day)
        .where('decision.channel', '=', channel)
        .where('decision.verdict', '=', 'tell')
      const rows: Fact[] = (await noted.selectAll('fact').orderBy('fact.seq').limit(limit).execute()).map(toPlacedFact)
      const counts = await noted
        .select(({ fn }) => ['fact.word', fn.countAll<number>().as('builds')])
        .groupBy('fact.word')
        .execute()
      return { facts: rows, counts: new Map(counts.map(({ word, builds }) => [word, Number(builds)])) }
    },

    async card({ subject, channel }) {
      const row = await db
        .selectFrom('card')
        .selectAll()
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .$if(locks, (query) => query.forUpdate())
        .executeTakeFirst()
      return row ? toCard(row) : null
    },

    async cardsOf(subject) {
      const rows = await db.selectFrom('card').select(['subject', 'channel']).where('subject', '=', subject).execute()
      return rows as CardKey[]
    },

    async messagesOf({ subject, channel }) {
      const rows = await db
        .selectFrom('message')
        .selectAll()
        .where('subject', '=', subject)
        .where('channel', '=', channel)
        .orderBy('claimed_at')
        .execute()
      return rows.map(toMessage)
    },

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
      let query = db.selectFrom('card').select(['subject', 'channel']).where(at, '<=', now)
      if (channel !== null) query = query.where('channel', '=', channel)
      if (not.length > 0) query = query.where('channel', 'not in', [...not])
      return (await query.orderBy(priority).orderBy(at).limit(limit).execute()) as CardKey[]
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
      const intake = await db
        .selectFrom('intake')
        .select(({ fn }) => fn.countAll<number>().as('lineages'))
        .executeTakeFirstOrThrow()
      return {
        intake: Number(intake.lineages),
        post: await waiting('post'),
        edit: await waiting('edit'),
        look: await waiting('look'),
      }
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
      return rows.map((row) => ({ channel: row.id as ChannelId, code: row.closed_code!, retryAt: row.retry_at ?? 0 }))
    },

    async project({ uuid, legacyId, names }) {
      const projects = () => db.selectFrom('project').selectAll()
      const byUuid = uuid === null ? undefined : await projects().where('uuid', '=', uuid).executeTakeFirst()
      const byId = byUuid ?? (await projects().where('legacy_id', '=', legacyId).executeTakeFirst())
      if (byId) return toProject(byId)
      if (names.length === 0) return null
      // Two projects of one name: which rules are meant is not clear, so none are.
      const byName = await projects()
        .where('name', 'in', [...names])
        .limit(2)
        .execute()
      return byName.length === 1 ? toProject(byName[0]!) : null
    },

    async subscriptions() {
      return (await db.selectFrom('subscription').selectAll().orderBy('id').execute()).map(toSubscription)
    },

    async personOf(handle) {
      const row = await db
        .selectFrom('person')
        .select('user_id')
        .where('handle', '=', handle.toLowerCase())
        .executeTakeFirst()
      return row?.user_id ?? null
    },

    async lastDoneAt(job) {
      const row = await db.selectFrom('job').select('last_done_at').where('name', '=', job).executeTakeFirst()
      return row?.last_done_at ?? null
    },
  }
}
