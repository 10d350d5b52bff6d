import { sql, type Kysely } from 'kysely'
import type { ProjectId } from '../../domain/ids.ts'
import { branchKey } from '../../domain/lineage.ts'
import type { Schema } from '../schema.ts'
import type { KnownBuild, Reads } from '../store.ts'
import type { Ask } from './ask.ts'
import { buildKey, toHeardProject, toKnownBuild, toProject } from './rows.ts'

/** Keys in one look: well below what a statement may have of parameters. */
const KEYS_MAX = 500

type BuildReads = Pick<
  Reads,
  | 'projects'
  | 'heardProjects'
  | 'build'
  | 'buildByUuid'
  | 'buildsByNumber'
  | 'newestBuild'
  | 'runningBuilds'
  | 'branchesOf'
  | 'subjectOf'
>

/** What commands ask: projects by name, and where their builds stand. */
export function readBuilds(db: Kysely<Schema>, ask: Ask): BuildReads {
  return {
    async projects() {
      const rows = await db.selectFrom('project').selectAll().orderBy('name').orderBy('uuid').execute()
      return rows.map((row) => ({ ...toProject(row), readAt: row.read_at }))
    },

    async heardProjects() {
      return (await db.selectFrom('heard').selectAll().orderBy('name').execute()).map(toHeardProject)
    },

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

    async runningBuilds(projectIds, limit) {
      if (projectIds?.length === 0) return []
      let query = db.selectFrom('build').selectAll().where('is_running', '=', sql.lit(1))
      if (projectIds) query = query.where('project_id', 'in', [...projectIds])
      return (await query.orderBy('at', 'desc').limit(limit).execute()).map(toKnownBuild)
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

    async subjectOf(channel, ts) {
      const row = await db
        .selectFrom('message')
        .select('subject')
        .where('channel', '=', channel)
        .where('ts', '=', ts)
        .executeTakeFirst()
      return row?.subject ?? null
    },
  }
}
