import { sql, type Kysely } from 'kysely'
import { buildKey, type BuildId } from '../../domain/ids.ts'
import { toStatus } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { FigureReads } from '../figures.ts'
import { toPlacedEvent } from './build-events.ts'

/** The reads that figures need. */
export const readFigures = (db: Kysely<Schema>): FigureReads => ({
  async endsAfter(projectId, { at, seq }, limit) {
    const rows = await db
      .selectFrom('fact')
      .select(['at', 'seq', 'build_id'])
      .where('project_id', '=', projectId)
      .where('verdict', '=', sql.lit(1))
      .where('at', '>=', at)
      .where(({ or, eb }) => or([eb('at', '>', at), eb('seq', '>', seq)]))
      .orderBy('at')
      .orderBy('seq')
      .limit(limit)
      .execute()
    return rows.map(({ build_id: buildId, ...place }) => ({ ...place, buildId: buildId as BuildId }))
  },

  async eventsAndRestartsOf(projectId, buildIds) {
    const keys = buildIds.map((id) => buildKey(projectId, id))
    const rows = await db.selectFrom('fact').selectAll().where('build_key', 'in', keys).orderBy('seq').execute()
    const requests = await db
      .selectFrom('request')
      .select(['build_key', 'asked_at', 'state', 'code'])
      .where('build_key', 'in', keys)
      .where('action', '=', 'restart')
      .execute()
    const restarts = requests.filter(({ state, code }) => state !== 'refused' && code !== 'not-restarted')
    return {
      buildEvents: rows.map(toPlacedEvent),
      restarts: restarts.map((one) => ({ buildId: one.build_key!.split('/').at(-1) as BuildId, at: one.asked_at })),
    }
  },

  async branchStateBefore(branchKey, at) {
    const row = await db
      .selectFrom('fact')
      .select(['build_order', 'seq', 'word'])
      .where('branch_key', '=', branchKey)
      .where('verdict', '=', sql.lit(1))
      .where('at', '<', at)
      .orderBy('build_order', 'desc')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row ? { buildOrder: row.build_order, endSeq: row.seq, status: toStatus(row.word) } : null
  },
})
