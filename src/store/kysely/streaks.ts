import { sql, type Kysely } from 'kysely'
import type { Judgement, Streak, StreakChange } from '../../domain/builds/streak.ts'
import type { ChannelId, ProjectId } from '../../domain/ids.ts'
import { toStatus } from '../../domain/builds/status.ts'
import type { StreakReads, StreakWrites } from '../streaks.ts'
import type { Schema } from '../schema.ts'
import type { OnNews } from '../store.ts'
import { columns, ofProjects, type RunQuery } from './query.ts'
import { mapping } from './rows.ts'

const STREAK = mapping<'breakage', Streak>({
  id: 'id',
  branchKey: 'branch_key',
  projectId: 'project_id',
  branch: 'branch',
  beganAt: 'began_at',
  beganOrder: 'began_order',
  builds: 'builds',
  newestOrder: 'newest_order',
  revisionKey: 'lineage_key',
  cardNumber: 'episode',
  endedAt: 'ended_at',
  endedBy: 'ended_build',
  owner: 'owner',
  ownedAt: 'owned_at',
  ownerUntil: 'owner_until',
  snoozedUntil: 'snoozed_until',
  checkedAt: 'checked_at',
})

const CHANGE = mapping<'breakage_change', StreakChange>({
  id: 'id',
  streakId: 'breakage_id',
  interactionKey: 'ask_key',
  kind: 'kind',
  by: 'made_by',
  to: 'made_to',
  until: 'until',
  at: 'at',
  subject: 'subject',
  channel: 'channel',
  number: 'number',
})

/** Outcomes read in one channel. CI machine errors among them do not count. */
const OUTCOMES_LOOKED_AT = 50
/** Outcomes read for all channels. */
const CARDS_LOOKED_AT = 200

export function readStreaks(db: Kysely<Schema>, runQuery: RunQuery): StreakReads {
  const streaks = () => db.selectFrom('breakage').selectAll()
  const open = () => streaks().where('ended_at', 'is', null)
  const changes = () => db.selectFrom('breakage_change').selectAll('breakage_change')

  return {
    async openStreak(branchKey) {
      const [row] = await runQuery('openStreak', { branchKey }, (value) =>
        open().where('branch_key', '=', value('branchKey')),
      )
      return row ? STREAK.fromRow(row) : null
    },

    async streak(id) {
      const row = await streaks().where('id', '=', id).executeTakeFirst()
      return row ? STREAK.fromRow(row) : null
    },

    async streakAt(branchKey, buildOrder) {
      const row = await streaks()
        .where('branch_key', '=', branchKey)
        .where('began_order', '<=', buildOrder)
        .orderBy('began_order', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? STREAK.fromRow(row) : null
    },

    async openStreaks(projects, limit) {
      const rows = open().where(ofProjects('breakage.project_id', projects))
      return (await rows.orderBy('began_at', 'desc').limit(limit).execute()).map(STREAK.fromRow)
    },

    async streaksToCheck(checkedBefore, limit) {
      const since = sql<number>`coalesce(checked_at, began_at)`
      return (await open().where(since, '<', checkedBefore).orderBy(since).limit(limit).execute()).map(STREAK.fromRow)
    },

    async streaksOf(user) {
      return (await open().where('owner', '=', user).execute()).map(STREAK.fromRow)
    },

    async streakOwners(now, limit) {
      const owned = db.selectFrom('breakage').select('owner').distinct().where('ended_at', 'is', null)
      const rows = await owned.where('owner', 'is not', null).where('owner_until', '>', now).limit(limit).execute()
      return rows.flatMap(({ owner }) => owner ?? [])
    },

    async streakChangesOf(subject) {
      const rows = await runQuery('streakChangesOf', { subject }, (value) =>
        changes().where('subject', '=', value('subject')).orderBy('at'),
      )
      return rows.map(CHANGE.fromRow)
    },

    async streakChanges(ids) {
      if (ids.length === 0) return []
      return (
        await changes()
          .where('breakage_id', 'in', [...ids])
          .orderBy('at')
          .execute()
      ).map(CHANGE.fromRow)
    },

    async streakCards({ branchKey, beganOrder, newestOrder }, channel) {
      const values = { branchKey, beganOrder, newestOrder, channel: channel ?? '' }
      const rows = await runQuery(
        `streakCards ${channel === undefined ? 'anywhere' : 'in a channel'}`,
        values,
        (value) =>
          db
            .selectFrom('fact')
            .innerJoin('card', (join) =>
              join.on(sql<boolean>`card.subject = fact.lineage_key || '/' || cast(fact.episode as text)`),
            )
            .select(['card.subject', 'card.channel', 'fact.word'])
            .where('fact.branch_key', '=', value('branchKey'))
            .where('fact.verdict', '=', sql.lit(1))
            .where('fact.build_order', '>=', value('beganOrder'))
            // Newer outcomes may wait to be ingested in great numbers, and have no cards yet.
            .where('fact.build_order', '<=', value('newestOrder'))
            .$if(channel !== undefined, (query) => query.where('card.channel', '=', value('channel')))
            .orderBy('fact.build_order', 'desc')
            .orderBy('fact.seq', 'desc')
            .limit(sql.lit(channel === undefined ? CARDS_LOOKED_AT : OUTCOMES_LOOKED_AT)),
      )
      const failed = rows.filter(({ word }) => toStatus(word) === 'failed')
      return failed.map(({ subject, channel: of }) => ({ subject, channel: of as ChannelId }))
    },

    async streakChangeBy(interactionKey) {
      const row = await changes().where('ask_key', '=', interactionKey).executeTakeFirst()
      return row ? CHANGE.fromRow(row) : null
    },

    async streakChangesAfter({ at, id }, limit) {
      const rows = await changes()
        .where('breakage_change.made_by', '<>', '')
        .where('breakage_change.kind', '<>', 'lapsed')
        // A change with a channel appears only in that channel's threads.
        .where('breakage_change.channel', 'is', null)
        .innerJoin('breakage', 'breakage.id', 'breakage_change.breakage_id')
        .select(['breakage.project_id', 'breakage.branch'])
        .where(sql<boolean>`(breakage_change.at, breakage_change.id) > (${at}, ${id})`)
        .orderBy('breakage_change.at')
        .orderBy('breakage_change.id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...CHANGE.fromRow(row), projectId: row.project_id as ProjectId, branch: row.branch }))
    },
  }
}

const NO_CHANGE = JSON.stringify({ change: null, streak: null } satisfies Judgement)

export function writeStreaks(db: Kysely<Schema>, runQuery: RunQuery, onNews: OnNews): StreakWrites {
  return {
    async saveStreak(streak) {
      const row = STREAK.toRow(streak)
      await runQuery('saveStreak', row, (value) =>
        db
          .insertInto('breakage')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.column('id').doUpdateSet(columns(row, value))),
      )
    },

    async insertStreakChange(change) {
      await db.insertInto('breakage_change').values(CHANGE.toRow(change)).execute()
    },

    async setBranchCheckedAt(id, at) {
      await db.updateTable('breakage').set({ checked_at: at }).where('id', '=', id).execute()
    },

    async forgetOutcomes(branchKey) {
      // What the branch has built is judged for good: the outcomes of a later branch of that name say nothing about it.
      const judgement = sql<string>`coalesce(judgement, ${NO_CHANGE})`
      await db.updateTable('fact').set({ verdict: 0, judgement }).where('branch_key', '=', branchKey).execute()
      await db.updateTable('build').set({ forgotten: 1, red: 0 }).where('branch_key', '=', branchKey).execute()
    },

    async removeStreakChange(id) {
      await db.deleteFrom('breakage_change').where('id', '=', id).execute()
    },

    async touchCards(subject, at, priority) {
      onNews('anything')
      const earlier = (column: 'edit_at' | 'edit_priority', than: number) =>
        sql<number>`case when ${sql.ref(column)} < ${than} then ${sql.ref(column)} else ${than} end`
      await runQuery('touchCards', { subject, at, priority }, (value) =>
        db
          .updateTable('card')
          .set({ edit_at: earlier('edit_at', value('at')), edit_priority: earlier('edit_priority', value('priority')) })
          .where('subject', '=', value('subject')),
      )
    },
  }
}
