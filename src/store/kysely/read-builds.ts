import { sql, type Kysely } from 'kysely'
import { normalHandle } from '../../domain/handle.ts'
import { buildKey, type ProjectId } from '../../domain/ids.ts'
import { branchKey } from '../../domain/revision.ts'
import type { Status } from '../../domain/status.ts'
import type { Schema } from '../schema.ts'
import type { KnownBuild } from '../kept.ts'
import type { Reads } from '../store.ts'
import type { Ask } from './ask.ts'
import { toKnownBuild } from './build-rows.ts'

const RED: readonly Status[] = ['failed', 'infrastructure_failure']

/** Keys in one look: well below what a statement may have of parameters. */
const KEYS_MAX = 500

type BuildReads = Pick<
  Reads,
  | 'build'
  | 'buildByUuid'
  | 'buildsByNumber'
  | 'newestBuild'
  | 'runningBuilds'
  | 'waitingBuilds'
  | 'redBuildsOf'
  | 'branchesOf'
>

/** Where builds stand. */
export function readBuilds(db: Kysely<Schema>, ask: Ask): BuildReads {
  const builds = () => db.selectFrom('build').selectAll()

  async function newestNews(
    some: ReturnType<typeof builds>,
    projectIds: readonly string[] | null,
    limit: number,
  ): Promise<KnownBuild[]> {
    if (projectIds?.length === 0) return []
    const query = projectIds ? some.where('project_id', 'in', [...projectIds]) : some
    return (await query.orderBy('at', 'desc').limit(limit).execute()).map(toKnownBuild)
  }

  return {
    async build(projectId, buildId) {
      const [row] = await ask('build', { key: buildKey(projectId, buildId) }, (value) =>
        db.selectFrom('build').selectAll().where('build_key', '=', value('key')),
      )
      return row ? toKnownBuild(row) : null
    },

    async buildByUuid(uuid) {
      const row = await db
        .selectFrom('build')
        .selectAll()
        .where('build_uuid', '=', uuid)
        .orderBy('at', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? toKnownBuild(row) : null
    },

    async buildsByNumber(buildId, limit) {
      // One look for each project that was heard of: whoever knows only the number knows no key.
      const projects = await db.selectFrom('heard').select('project_id').execute()
      const keys = projects.map((row) => buildKey(row.project_id, buildId))
      const found: KnownBuild[] = []
      for (let at = 0; at < keys.length && found.length < limit; at += KEYS_MAX) {
        const some = keys.slice(at, at + KEYS_MAX)
        const rows = await db.selectFrom('build').selectAll().where('build_key', 'in', some).limit(limit).execute()
        found.push(...rows.map(toKnownBuild))
      }
      return found.sort((a, b) => b.at - a.at).slice(0, limit)
    },

    async newestBuild(projectId, branch) {
      const query = db.selectFrom('build').selectAll().orderBy('build_order', 'desc').limit(1)
      const row = await (
        branch === undefined
          ? query.where('project_id', '=', projectId)
          : query.where('branch_key', '=', branchKey(projectId as ProjectId, branch))
      ).executeTakeFirst()
      return row ? toKnownBuild(row) : null
    },

    runningBuilds: (projectIds, limit) => newestNews(builds().where('is_running', '=', sql.lit(1)), projectIds, limit),

    waitingBuilds: (projectIds, limit) =>
      newestNews(builds().where('status', '=', sql.lit('waiting')), projectIds, limit),

    async redBuildsOf(handles, limit) {
      if (handles.length === 0) return []
      const rows = await builds()
        .where('committer', 'in', handles.map(normalHandle))
        .where(
          'status',
          'in',
          RED.map((status) => sql.lit(status)),
        )
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('build as newer')
                .select('newer.build_key')
                .whereRef('newer.branch_key', '=', 'build.branch_key')
                .whereRef('newer.build_order', '>', 'build.build_order'),
            ),
          ),
        )
        .orderBy('at', 'desc')
        .limit(limit)
        .execute()
      return rows.map(toKnownBuild)
    },

    async branchesOf(projectId, limit) {
      const rows = await db
        .selectFrom('build')
        .select(['branch', ({ fn }) => fn.max('build_order').as('newest')])
        .where('project_id', '=', projectId)
        .where('branch', 'is not', null)
        .groupBy('branch')
        .orderBy('newest', 'desc')
        .limit(limit)
        .execute()
      return rows.flatMap(({ branch }) => branch ?? [])
    },
  }
}
