import { sql, type Kysely } from 'kysely'
import type { BuildId, ProjectId } from '../../domain/ids.ts'
import { toStatus } from '../../domain/builds/status.ts'
import type { Schema } from '../schema.ts'
import type { BuildEnd, FigureReads } from '../figures.ts'
import { toStored } from './build-events.ts'
import { amongKeys, ofProjects } from './query.ts'

export const readFigures = (db: Kysely<Schema>): FigureReads => ({
  async endsAfter(projectId, { at, seq }, limit) {
    const rows = await db
      .selectFrom('fact')
      .select(['at', 'seq', 'project_id as projectId', 'build_id as buildId'])
      .where('verdict', '=', sql.lit(1))
      .where('at', '>=', at)
      .where(({ or, eb }) => or([eb('at', '>', at), eb('seq', '>', seq)]))
      .$if(projectId !== null, (query) => query.where('project_id', '=', projectId!))
      .orderBy('at')
      .orderBy('seq')
      .limit(limit)
      .execute()
    return rows as BuildEnd[]
  },

  async builtSince(projectIds, at) {
    const rows = await db
      .selectFrom(amongKeys(projectIds).as('asked'))
      .select('key')
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('fact')
            .select('seq')
            .whereRef('project_id', '=', 'asked.key')
            .where('verdict', '=', sql.lit(1))
            .where('at', '>=', at),
        ),
      )
      .execute()
    return rows.map((row) => row.key as ProjectId)
  },

  async projectsAmong(projectIds, projects) {
    const rows = await db
      .selectFrom(amongKeys(projectIds).as('asked'))
      .select('key')
      .where(ofProjects('asked.key', projects))
      .execute()
    return rows.map((row) => row.key as ProjectId)
  },

  async eventsAndRestartsOf(buildKeys) {
    const rows = await db
      .selectFrom('fact')
      .selectAll()
      .where('build_key', 'in', [...buildKeys])
      .orderBy('seq')
      .execute()
    const requests = await db
      .selectFrom('request')
      .select(['build_key', 'asked_at', 'state', 'code'])
      .where('build_key', 'in', [...buildKeys])
      .where('action', '=', 'restart')
      .execute()
    const restarts = requests.filter(({ state, code }) => state !== 'refused' && code !== 'not-restarted')
    return {
      buildEvents: rows.map(toStored),
      restarts: restarts.map(({ build_key: key, asked_at: at }) => {
        const [projectId, buildId] = key!.split('/') as [ProjectId, BuildId]
        return { projectId, buildId, at }
      }),
    }
  },

  async branchStatesBefore(branchKeys, at) {
    const rows = await db
      .selectFrom(amongKeys(branchKeys).as('asked'))
      .innerJoin('fact', (join) =>
        join.on(
          'fact.seq',
          '=',
          sql<number>`(select last.seq from fact as last where last.branch_key = asked.key and last.verdict = 1
            and last.at < ${at} order by last.build_order desc, last.seq desc limit 1)`,
        ),
      )
      .select(['asked.key', 'fact.build_order', 'fact.seq', 'fact.word'])
      .execute()
    return rows.map(({ key, build_order: buildOrder, seq, word }) => ({
      branchKey: key,
      buildOrder,
      endSeq: seq,
      status: toStatus(word),
    }))
  },
})
