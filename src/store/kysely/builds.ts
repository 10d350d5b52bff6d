import { type Selectable, sql, type Kysely } from 'kysely'
import { type BuildId, type ProjectId, type Uuid, buildKey } from '../../domain/ids.ts'
import type { Status } from '../../domain/status.ts'
import { WITHOUT_STREAK } from '../../domain/stream.ts'
import type { Schema } from '../schema.ts'
import type { KnownBuild } from '../records.ts'
import { normalHandle } from '../../domain/handle.ts'
import { branchKey } from '../../domain/revision.ts'
import type { Reads, Tx } from '../store.ts'
import { type RunQuery, columns } from './query.ts'

const toKnownBuild = (row: Selectable<Schema['build']>): KnownBuild => ({
  projectId: row.project_id as ProjectId,
  buildId: row.build_id as BuildId,
  buildOrder: row.build_order,
  attempt: row.run,
  revisionKey: row.lineage_key,
  cardNumber: row.episode,
  branch: row.branch,
  status: row.status as Status,
  rawStatus: row.word,
  at: row.at,
  buildUuid: row.build_uuid as Uuid | null,
  committer: row.committer,
})

const RED: readonly Status[] = ['failed', 'infrastructure_failure']

/** Keys per query, well below the limit of parameters of a statement. */
const KEYS_MAX = 500

type BuildReads = Pick<
  Reads,
  | 'build'
  | 'buildsOf'
  | 'buildsWithId'
  | 'buildByUuid'
  | 'buildsByNumber'
  | 'newestBuild'
  | 'lastBuilds'
  | 'runningBuilds'
  | 'waitingBuilds'
  | 'redBuilds'
  | 'redBuildsOf'
  | 'branchesOf'
  | 'unreadEnds'
>

/** The state of builds. */
export function readBuilds(db: Kysely<Schema>, runQuery: RunQuery): BuildReads {
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

  /** Red builds without a newer outcome in their stream, if its results follow one another. */
  const stillRed = () =>
    WITHOUT_STREAK.reduce(
      (query, end) => query.where(sql<boolean>`coalesce(branch, '') not like ${sql.lit(`%${end}`)}`),
      builds(),
    )
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
              .whereRef('newer.build_order', '>', 'build.build_order')
              .where('newer.status', 'in', [sql.lit('success'), ...RED.map((status) => sql.lit(status))]),
          ),
        ),
      )

  return {
    async build(projectId, buildId) {
      const [row] = await runQuery('build', { key: buildKey(projectId, buildId) }, (value) =>
        db.selectFrom('build').selectAll().where('build_key', '=', value('key')),
      )
      return row ? toKnownBuild(row) : null
    },

    async buildsOf(projectId, buildIds) {
      const keys = buildIds.slice(0, KEYS_MAX).map((id) => buildKey(projectId, id))
      if (keys.length === 0) return []
      return (await builds().where('build_key', 'in', keys).execute()).map(toKnownBuild)
    },

    async buildsWithId(source, buildId, limit) {
      const withId = builds().where('build_id', '=', buildId)
      const of =
        source === 'ci'
          ? withId.where('project_id', 'not like', '%:%')
          : withId.where('project_id', 'like', `${source}:%`)
      return (await of.orderBy('at', 'desc').limit(limit).execute()).map(toKnownBuild)
    },

    async buildByUuid(uuid) {
      const [row] = await runQuery('buildByUuid', { uuid }, (value) =>
        builds().where('build_uuid', '=', value('uuid')).orderBy('at', 'desc').limit(sql.lit(1)),
      )
      return row ? toKnownBuild(row) : null
    },

    async buildsByNumber(number, limit, projectId) {
      // Without a project, the build is looked up in every known project: its key needs the project's id.
      const projects = projectId === undefined ? await db.selectFrom('heard').select('project_id').execute() : []
      const projectIds = projectId === undefined ? projects.map((row) => row.project_id) : [projectId]
      const keys = projectIds.map((id) => buildKey(id, number))
      const all = builds().where('number', '=', number).orderBy('at', 'desc').limit(limit)
      const numbered = await (projectId === undefined ? all : all.where('project_id', '=', projectId)).execute()
      const found = numbered.map(toKnownBuild)
      for (let at = 0; at < keys.length && found.length < limit; at += KEYS_MAX) {
        const some = builds().where('build_key', 'in', keys.slice(at, at + KEYS_MAX))
        const rows = await some.where('number', 'is', null).limit(limit).execute()
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

    async lastBuilds(projectId, branch, limit) {
      const ofBranch = builds().where('branch_key', '=', branchKey(projectId as ProjectId, branch))
      return (await ofBranch.orderBy('build_order', 'desc').limit(limit).execute()).map(toKnownBuild)
    },

    runningBuilds: (projectIds, limit) => newestNews(builds().where('is_running', '=', sql.lit(1)), projectIds, limit),

    waitingBuilds: (projectIds, limit) =>
      newestNews(builds().where('status', '=', sql.lit('waiting')), projectIds, limit),

    redBuilds: (projectIds, limit) => newestNews(stillRed(), projectIds, limit),

    async redBuildsOf(handles, limit) {
      if (handles.length === 0) return []
      return newestNews(stillRed().where('committer', 'in', handles.map(normalHandle)), null, limit)
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

    async unreadEnds(dueAt, limit) {
      const due = builds().where('read_end_at', '<=', dueAt).orderBy('read_end_at').limit(limit)
      return (await due.execute()).map(toKnownBuild)
    },
  }
}

type BuildWrites = Pick<Tx, 'saveBuild' | 'setReadEndAt' | 'forgetBuild'>

/** The state of builds. */
export function writeBuilds(db: Kysely<Schema>, runQuery: RunQuery): BuildWrites {
  return {
    async saveBuild(build) {
      const row = {
        build_key: buildKey(build.projectId, build.buildId),
        project_id: build.projectId,
        build_id: build.buildId,
        build_order: build.buildOrder,
        branch_key: branchKey(build.projectId, build.branch),
        branch: build.branch,
        lineage_key: build.revisionKey,
        episode: build.cardNumber,
        run: build.attempt,
        status: build.status,
        word: build.rawStatus,
        at: build.at,
        is_running: build.status === 'started' ? 1 : 0,
        build_uuid: build.buildUuid,
        committer: build.committer === null ? null : normalHandle(build.committer),
        number: build.number ?? null,
        read_end_at: build.readEndAt ?? null,
      }
      await runQuery('saveBuild', row, (value) =>
        db
          .insertInto('build')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.column('build_key').doUpdateSet(columns(row, value))),
      )
    },

    async setReadEndAt({ projectId, buildId, attempt }, at) {
      await db
        .updateTable('build')
        .set({ read_end_at: at })
        .where('build_key', '=', buildKey(projectId, buildId))
        .where('run', '=', attempt)
        .execute()
    },

    async forgetBuild(projectId, buildId) {
      await db.deleteFrom('build').where('build_key', '=', buildKey(projectId, buildId)).execute()
    },
  }
}

/** Builds that have not ended, and have had no event for long. */
export function readSilent(db: Kysely<Schema>): Pick<Reads, 'silentBuilds'> {
  const silent = ({ notAfter, notBefore }: Parameters<Reads['silentBuilds']>[0], limit: number) =>
    db
      .selectFrom('build')
      .selectAll()
      .where('at', '<=', notAfter)
      .where('at', '>=', notBefore)
      .where(({ or, eb }) => or([eb('asked_at', 'is', null), eb('asked_at', '<=', notAfter)]))
      .orderBy('at')
      .limit(limit)

  return {
    async silentBuilds(since, limit) {
      const running = await silent(since, limit).where('is_running', '=', sql.lit(1)).execute()
      const waiting = await silent(since, limit).where('status', '=', sql.lit('waiting')).execute()
      const all = [...running, ...waiting].sort((a, b) => a.at - b.at)
      return all.slice(0, limit).map(toKnownBuild)
    },
  }
}

export const writeSilent = (db: Kysely<Schema>): Pick<Tx, 'setCiCheckedAt'> => ({
  async setCiCheckedAt(builds, at) {
    const keys = builds.map(({ projectId, buildId }) => buildKey(projectId, buildId))
    if (keys.length > 0) await db.updateTable('build').set({ asked_at: at }).where('build_key', 'in', keys).execute()
  },
})
