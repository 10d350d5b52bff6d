import { type DeleteQueryBuilder, type DeleteResult, type Kysely } from 'kysely'
import { OPEN_STATES } from '../../domain/cards/request.ts'
import { digestSubject, noticeSubject, revisionSubject } from '../../domain/builds/revision.ts'
import type { Schema } from '../schema.ts'
import type { Reads, Tx } from '../store.ts'
import { markBuilds } from './builds.ts'
import type { RunQuery } from './query.ts'
import { IS_OF_NO_BUILD } from './reports.ts'

export const readPlaces = (db: Kysely<Schema>) =>
  ({
    async eventsAfter(seq, limit) {
      const rows = await db
        .selectFrom('fact')
        .select(['seq', 'at', 'episode', 'lineage_key'])
        .where('seq', '>', seq)
        .orderBy('seq')
        .limit(limit)
        .execute()
      return rows.map(({ lineage_key: revisionKey, episode: cardNumber, ...place }) => ({
        ...place,
        revisionKey,
        cardNumber,
      }))
    },
  }) satisfies Partial<Reads>

export function writePrune(db: Kysely<Schema>, runQuery: RunQuery) {
  /** Cards of days before `beforeDay` that are done or in a closed channel. */
  function oldCards(subjectOf: (day: string) => string, { beforeDay, closed }: OldNotices, limit: number) {
    return db
      .selectFrom('card')
      .select(['subject', 'channel'])
      .where('subject', '>', subjectOf(''))
      .where('subject', '<', subjectOf(beforeDay))
      .where(({ or, and, eb }) => {
        const isDone = and([eb('post_at', 'is', null), eb('edit_at', 'is', null), eb('look_at', 'is', null)])
        return closed.length === 0 ? isDone : or([isDone, eb('channel', 'in', [...closed])])
      })
      .orderBy('subject')
      .orderBy('channel')
      .limit(limit)
      .execute()
  }

  return {
    async removeCardEvents(revisionKey, cardNumber) {
      const subject = revisionSubject(revisionKey, cardNumber)
      const buildEvents = await db
        .deleteFrom('fact')
        .where('lineage_key', '=', revisionKey)
        .where('episode', '=', cardNumber)
        .returning('build_key')
        .execute()
      const builds = [...new Set(buildEvents.map((buildEvent) => buildEvent.build_key))]
      // The state of a build that was run again belongs to its later card.
      const standing = db.deleteFrom('build').where('build_key', 'in', builds).returning(['project_id', 'branch_key'])
      const reportsOfNone = db.deleteFrom('report').where('build_key', 'in', builds).where(IS_OF_NO_BUILD)
      const own = standing.where('lineage_key', '=', revisionKey).where('episode', '=', cardNumber)
      const removed = builds.length === 0 ? [] : await own.execute()
      const places = new Map(
        removed.map((row) => [row.branch_key, { project: row.project_id, branch: row.branch_key }]),
      )
      for (const place of places.values()) await markBuilds(db, runQuery, place)
      return (
        buildEvents.length +
        removed.length +
        (builds.length === 0 ? 0 : await count(reportsOfNone)) +
        (await count(db.deleteFrom('decision').where('subject', '=', subject))) +
        (await count(db.deleteFrom('message').where('subject', '=', subject))) +
        (await count(db.deleteFrom('card').where('subject', '=', subject))) +
        (await removeStreaks(db, revisionKey, cardNumber)) +
        (await removeAsked(db, revisionKey))
      )
    },

    async removeDeliveries(receivedBefore, limit) {
      const oldest = db.selectFrom('delivery').select('id').orderBy('id').limit(limit)
      return count(db.deleteFrom('delivery').where('id', 'in', oldest).where('received_at', '<', receivedBefore))
    },

    async removeProjectRequests(requestedBefore, limit) {
      const oldest = db
        .selectFrom('request')
        .select('id')
        .where('asked_at', '<', requestedBefore)
        .where('run', 'is', null)
        .where('state', 'not in', OPEN_STATES)
        .orderBy('asked_at')
        .orderBy('id')
        .limit(limit)
      return count(db.deleteFrom('request').where('id', 'in', oldest))
    },

    async removeNotices({ beforeDay, closed }, limit) {
      const notices = await oldCards(noticeSubject, { beforeDay, closed }, limit)
      const rows = [...notices, ...(await oldCards(digestSubject, { beforeDay, closed }, limit - notices.length))]
      for (const { subject, channel } of rows) {
        await db.deleteFrom('message').where('subject', '=', subject).where('channel', '=', channel).execute()
        await db.deleteFrom('card').where('subject', '=', subject).where('channel', '=', channel).execute()
      }
      return rows.length
    },

    async removeEmptyProjects(after, limit) {
      const some = await db
        .selectFrom('heard')
        .select('project_id')
        .where('project_id', '>', after)
        .orderBy('project_id')
        .limit(limit)
        .execute()
      const ids = some.map((row) => row.project_id)
      const last = ids.length < limit ? null : ids.at(-1)!
      if (ids.length === 0) return { last, removed: 0 }
      const empty = await db
        .deleteFrom('heard')
        .where('project_id', 'in', ids)
        .where(({ not, or, exists, selectFrom }) => {
          const read = selectFrom('project').select('uuid').where('read_at', '>', 0)
          const isNeeded = [
            exists(selectFrom('build').select('build_key').whereRef('build.project_id', '=', 'heard.project_id')),
            exists(read.whereRef('legacy_id', '=', 'heard.project_id')),
            exists(read.whereRef('uuid', '=', 'heard.project_uuid')),
          ]
          return not(or(isNeeded))
        })
        .returning('project_id')
        .execute()
      const removed = empty.map((row) => row.project_id)
      if (removed.length > 0)
        await db.deleteFrom('project').where('legacy_id', 'in', removed).where('read_at', '=', 0).execute()
      return { last, removed: removed.length }
    },
  } satisfies Partial<Tx>
}

type OldNotices = Parameters<Tx['removeNotices']>[0]

// A restart requested on one card may have begun an attempt on the next one: requests stay until the last card goes.
async function removeAsked(db: Kysely<Schema>, revisionKey: string): Promise<number> {
  const left = await db
    .selectFrom('fact')
    .select('seq')
    .where('lineage_key', '=', revisionKey)
    .where('episode', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return left ? 0 : count(db.deleteFrom('request').where('lineage_key', '=', revisionKey))
}

/** A streak is removed with the card of its newest failure, which stays as long as the branch is red. */
async function removeStreaks(db: Kysely<Schema>, revisionKey: string, cardNumber: number): Promise<number> {
  const gone = await db
    .deleteFrom('breakage')
    .where('lineage_key', '=', revisionKey)
    .where('episode', '=', cardNumber)
    .returning('id')
    .execute()
  if (gone.length === 0) return 0
  const ids = gone.map(({ id }) => id)
  return gone.length + (await count(db.deleteFrom('breakage_change').where('breakage_id', 'in', ids)))
}

async function count<Table extends keyof Schema>(
  query: DeleteQueryBuilder<Schema, Table, DeleteResult>,
): Promise<number> {
  const { numDeletedRows } = await query.executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
