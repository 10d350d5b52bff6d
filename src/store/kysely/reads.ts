import { sql, type Kysely, type Selectable } from 'kysely'
import type { Fact } from '../../domain/fact.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { PlacedFact } from '../../domain/lineage.ts'
import type { Lane } from '../../domain/plan.ts'
import type { Schema } from '../schema.ts'
import type { CardKey, Reads } from '../store.ts'
import { createAsk, type Compiled, type Execute } from './ask.ts'
import { readBuilds } from './read-builds.ts'
import { readRequests } from './read-requests.ts'
import { toCard, toDecision, toMessage, toPlacedFact, toProject, toSubscription } from './rows.ts'

/** The newest facts of one build that are folded; more than any build has, less than a flood of repeats could make. */
const BUILD_FACTS_MAX = 500

/** So many outcomes of newer builds are looked at: one that overtook this build stands near it. */
const OVERTAKERS_MAX = 100

/** Channels looked at in one round; more than any workspace follows. */
const CHANNELS_MAX = 10_000

/** How a set of queries is asked; `locks`: what is read to be changed must be locked, since others write side by side. */
export interface Asking {
  compiled: Compiled
  execute: Execute
  locks: boolean
}

/** Facts looked at for one round of taking in: several may be of one lineage. */
const FACTS_PER_LINEAGE = 4

export function createReads(db: Kysely<Schema>, { compiled, execute, locks }: Asking): Reads {
  const ask = createAsk(compiled, execute)
  const facts = () => db.selectFrom('fact').selectAll()
  const verdicts = (key: string) =>
    db.selectFrom('fact').where('branch_key', '=', key).where('verdict', '=', sql.lit(1))
  const lockName = locks ? 'for update' : ''

  return {
    async factsOfBuild(projectId, buildId) {
      const key = `${projectId}/${buildId}`
      // Two first facts of one build that arrive side by side must not each think itself the first.
      if (locks) await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(db)
      const rows = await ask('factsOfBuild', { key }, (value) =>
        facts().where('build_key', '=', value('key')).orderBy('seq', 'desc').limit(sql.lit(BUILD_FACTS_MAX)),
      )
      return rows.toReversed().map(toPlacedFact)
    },

    async factsOfBuilds(buildKeys) {
      const found: PlacedFact[] = []
      for (const key of buildKeys) {
        const rows = await ask('factsOfKey', { key }, (value) => facts().where('build_key', '=', value('key')))
        found.push(...rows.map(toPlacedFact))
      }
      return found.sort((a, b) => a.seq - b.seq)
    },

    async factsOfEpisode(lineageKey, episode) {
      const rows = await ask('factsOfEpisode', { lineageKey, episode }, (value) =>
        facts().where('lineage_key', '=', value('lineageKey')).where('episode', '=', value('episode')).orderBy('seq'),
      )
      return rows.map(toPlacedFact)
    },

    async newestEpisode(lineageKey) {
      const [row] = await ask('newestEpisode', { lineageKey }, (value) => {
        const placed = db
          .selectFrom('fact')
          .where('lineage_key', '=', value('lineageKey'))
          .where('episode', 'is not', null)
        const newest = placed.select(({ fn }) => fn.max('episode').as('newest'))
        return placed
          .select(({ fn }) => [fn.max('at').as('last_at'), fn.countAll<number>().as('facts')])
          .select(({ fn }) => fn.max('episode').as('episode'))
          .where('episode', '=', newest)
      })
      if (!row || row.episode === null) return null
      return { episode: row.episode, lastAt: Number(row.last_at), facts: Number(row.facts) }
    },

    async verdictsBefore(branchKey, buildOrder, limit) {
      const rows = await ask(`verdictsBefore ${limit}`, { branchKey, buildOrder }, (value) =>
        verdicts(value('branchKey'))
          .selectAll()
          .where('build_order', '<=', value('buildOrder'))
          .orderBy('build_order', 'desc')
          .orderBy('seq', 'desc')
          .limit(sql.lit(limit)),
      )
      return rows.map(toPlacedFact)
    },

    async isOvertaken(branchKey, buildOrder, seq) {
      const next = await ask('isOvertaken', { branchKey, buildOrder }, (value) =>
        verdicts(value('branchKey'))
          .select('seq')
          .where('build_order', '>', value('buildOrder'))
          .orderBy('build_order')
          .limit(sql.lit(OVERTAKERS_MAX)),
      )
      return next.some((newer) => newer.seq < seq)
    },

    async lineagesAfter(branchKey, buildOrder, limit) {
      const rows = await ask(`lineagesAfter ${limit}`, { branchKey, buildOrder }, (value) =>
        db
          .selectFrom('build')
          .select('lineage_key')
          .where('branch_key', '=', value('branchKey'))
          .where('build_order', '>', value('buildOrder'))
          // Only what passed can have recovered; of a build with several runs the newest says nothing of the others.
          .where(({ or, eb }) => or([eb('status', '=', sql.lit('success')), eb('run', '>', sql.lit(1))]))
          .orderBy('build_order')
          .limit(sql.lit(limit)),
      )
      return rows.map(({ lineage_key: lineageKey }) => lineageKey)
    },

    async dueIntake(now, limit) {
      const woken = await ask(`dueWoken ${limit}`, { now }, (value) =>
        db
          .selectFrom('intake')
          .select(['lineage_key', 'priority', 'due_at as at'])
          .where('due_at', '<=', value('now'))
          .orderBy('priority')
          .orderBy('due_at')
          .limit(sql.lit(limit)),
      )
      const fresh = await ask(`dueFresh ${limit}`, {}, () =>
        db
          .selectFrom('fact')
          .select(['lineage_key', 'priority', 'at', 'build_key'])
          .where('episode', 'is', null)
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('intake').select('stamp').whereRef('intake.lineage_key', '=', 'fact.lineage_key'))),
          )
          .orderBy('priority')
          .orderBy('seq')
          .limit(sql.lit(limit * FACTS_PER_LINEAGE)),
      )
      const due = [...woken.map((row) => ({ ...row, build_key: null })), ...fresh]
      const byLineage = Map.groupBy(
        due.sort((a, b) => a.priority - b.priority || a.at - b.at),
        (row) => row.lineage_key,
      )
      return [...byLineage].slice(0, limit).map(([lineageKey, rows]) => ({
        lineageKey,
        buildKeys: [...new Set(rows.flatMap((row) => row.build_key ?? []))],
      }))
    },

    async intakeOf(lineageKey) {
      // The mark may not be there yet, and so be nothing to lock.
      if (locks) await sql`select pg_advisory_xact_lock(hashtextextended(${lineageKey}, 1))`.execute(db)
      const [row] = await ask('intakeOf', { lineageKey }, (value) =>
        db.selectFrom('intake').select('stamp').where('lineage_key', '=', value('lineageKey')),
      )
      return row ? { lineageKey, stamp: row.stamp } : null
    },

    async decisionsOf({ subject, channel }) {
      const rows = await ask('decisionsOf', { subject, channel }, (value) =>
        db
          .selectFrom('decision')
          .selectAll()
          .where('subject', '=', value('subject'))
          .where('channel', '=', value('channel'))
          .orderBy('fact_seq'),
      )
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
      const [row] = await ask(`card ${lockName}`, { subject, channel }, (value) =>
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
      return (await query.orderBy(priority).orderBy(at).limit(sql.lit(limit)).execute()) as CardKey[]
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
      const [byUuid] =
        uuid === null
          ? []
          : await ask('projectByUuid', { uuid }, (value) =>
              db.selectFrom('project').selectAll().where('uuid', '=', value('uuid')),
            )
      const [byId] = byUuid
        ? [byUuid]
        : await ask('projectByLegacyId', { legacyId }, (value) =>
            db.selectFrom('project').selectAll().where('legacy_id', '=', value('legacyId')).limit(sql.lit(1)),
          )
      if (byId) return toProject(byId)
      const found: Selectable<Schema['project']>[] = []
      for (const name of new Set(names))
        found.push(
          ...(await ask('projectByName', { name }, (value) =>
            db.selectFrom('project').selectAll().where('name', '=', value('name')).limit(sql.lit(2)),
          )),
        )
      // Two projects of one name: which rules are meant is not clear, so none are.
      return new Set(found.map((row) => row.uuid)).size === 1 ? toProject(found[0]!) : null
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

    ...readBuilds(db, ask),
    ...readRequests(db, ask),
  }
}
