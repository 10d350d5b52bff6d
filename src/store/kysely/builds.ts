import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type ProjectId, buildKey } from '../../domain/ids.ts'
import type { Status } from '../../domain/builds/status.ts'
import { WITHOUT_STREAK } from '../../domain/builds/stream.ts'
import type { Schema } from '../schema.ts'
import type { KnownBuild, Projects } from '../records.ts'
import { normalHandle } from '../../domain/handle.ts'
import { branchKey } from '../../domain/builds/revision.ts'
import type { Reads, Tx } from '../store.ts'
import { columns, ofProjects, type RunQuery } from './query.ts'
import { mapping } from './rows.ts'

const BUILD = mapping<'build', KnownBuild>({
  projectId: 'project_id',
  buildId: 'build_id',
  buildOrder: 'build_order',
  attempt: 'run',
  revisionKey: 'lineage_key',
  cardNumber: 'episode',
  branch: 'branch',
  status: 'status',
  rawStatus: 'word',
  at: 'at',
  buildUuid: 'build_uuid',
  committer: 'committer',
})

const RED = (['failed', 'infrastructure_failure'] satisfies Status[]).map((status) => sql.lit(status))
const OUTCOMES = [sql.lit('success' satisfies Status), ...RED]

/** Whether the build leaves its branch red. Of the mark alone, `newestOf` says why it does not suffice. */
const leavesRed = (build: string) =>
  sql<boolean>`${sql.ref(`${build}.red`)} = 1 and ${isNone(sql`select 1 from build as later
    where later.branch_key = ${sql.ref(`${build}.branch_key`)} and later.build_order > ${sql.ref(`${build}.build_order`)}
      and later.status in (${sql.join(OUTCOMES)})`)}`

/** As `not exists`, for which PostgreSQL would read the whole table instead of an index for each row. */
const isNone = (rows: Sql) => sql<boolean>`(${rows} limit 1) is null`

/** Keys per query, well below the limit of parameters of a statement. */
const KEYS_MAX = 500

export function readBuilds(db: Kysely<Schema>, runQuery: RunQuery) {
  const builds = () => db.selectFrom('build').selectAll()

  async function newestNews(some: ReturnType<typeof builds>, projects: Projects | null, limit: number) {
    const query = projects ? some.where(ofProjects('build.project_id', projects)) : some
    return (await query.orderBy('at', 'desc').limit(limit).execute()).map(BUILD.fromRow)
  }

  // PostgreSQL's transactions do not see each other: for a moment, two builds of a project may have the mark.
  const newestOf = (projects: Projects, which: Parameters<Reads['newestBuilds']>[2]) =>
    db
      .selectFrom('build')
      .where('newest', '=', sql.lit(1))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('build as later')
              .select('later.build_key')
              .whereRef('later.project_id', '=', 'build.project_id')
              .whereRef('later.build_order', '>', 'build.build_order'),
          ),
        ),
      )
      .where(ofProjects('build.project_id', projects))
      .$if(which === 'not-red', (query) =>
        query.where('red', '=', sql.lit(0)).where((eb) => {
          const again = redAgain().select('id').where('branch_key', '=', eb.ref('build.branch_key'))
          return eb(again.limit(sql.lit(1)), 'is', null)
        }),
      )

  const stillRed = () => builds().where(leavesRed('build'))

  /** The branches whose last red build is run again: they are red, but no build leaves them so. */
  const redAgain = () =>
    db
      .selectFrom('breakage')
      .where('ended_at', 'is', null)
      .where(
        isNone(sql`select 1 from build as left_red
          where left_red.branch_key = breakage.branch_key and ${leavesRed('left_red')}`),
      )

  async function countOf(some: SelectQueryBuilder<Schema, 'build', { branch_key: string }>): Promise<number> {
    const counted = db.selectFrom(some.as('counted')).select(({ fn }) => fn.countAll().as('total'))
    return Number((await counted.executeTakeFirstOrThrow()).total)
  }

  return {
    async build(projectId, buildId) {
      const [row] = await runQuery('build', { key: buildKey(projectId, buildId) }, (value) =>
        builds().where('build_key', '=', value('key')),
      )
      return row ? BUILD.fromRow(row) : null
    },

    async buildsOf(projectId, buildIds) {
      const keys = buildIds.slice(0, KEYS_MAX).map((id) => buildKey(projectId, id))
      if (keys.length === 0) return []
      return (await builds().where('build_key', 'in', keys).execute()).map(BUILD.fromRow)
    },

    async buildsWithId(source, buildId, limit) {
      const withId = builds().where('build_id', '=', buildId)
      const of =
        source === 'ci'
          ? withId.where('project_id', 'not like', '%:%')
          : withId.where('project_id', 'like', `${source}:%`)
      return (await of.orderBy('at', 'desc').limit(limit).execute()).map(BUILD.fromRow)
    },

    async buildByUuid(uuid) {
      const [row] = await runQuery('buildByUuid', { uuid }, (value) =>
        builds().where('build_uuid', '=', value('uuid')).orderBy('at', 'desc').limit(sql.lit(1)),
      )
      return row ? BUILD.fromRow(row) : null
    },

    async buildsByNumber(number, limit, projectId) {
      const some = builds().orderBy('at', 'desc').limit(limit)
      const query =
        projectId === undefined
          ? some.where(ofProjects('build.project_id', { except: [] }))
          : some.where('project_id', '=', projectId)
      const rows = [
        ...(await query.where('number', '=', number).execute()),
        ...(await query.where('build_id', '=', number).where('number', 'is', null).execute()),
      ]
      return rows
        .map(BUILD.fromRow)
        .toSorted((a, b) => b.at - a.at)
        .slice(0, limit)
    },

    async newestBuilds(projects, limit, which = 'all') {
      const rows = await newestOf(projects, which).selectAll().orderBy('at', 'desc').limit(limit).execute()
      return rows.map(BUILD.fromRow)
    },

    countNewest: (projects, max, which = 'all') => countOf(newestOf(projects, which).select('branch_key').limit(max)),

    async newestBuild(projectId, branch) {
      const query = builds().orderBy('build_order', 'desc').limit(1)
      const row = await (
        branch === undefined
          ? query.where('project_id', '=', projectId)
          : query.where('branch_key', '=', branchKey(projectId as ProjectId, branch))
      ).executeTakeFirst()
      return row ? BUILD.fromRow(row) : null
    },

    async lastBuilds(projectId, branch, limit) {
      const ofBranch = builds().where('branch_key', '=', branchKey(projectId as ProjectId, branch))
      return (await ofBranch.orderBy('build_order', 'desc').limit(limit).execute()).map(BUILD.fromRow)
    },

    runningBuilds: (projects, limit) => newestNews(builds().where('is_running', '=', sql.lit(1)), projects, limit),

    waitingBuilds: (projects, limit) => newestNews(builds().where('status', '=', sql.lit('waiting')), projects, limit),

    redBuilds: (projects, limit) => newestNews(stillRed(), projects, limit),

    countRed(projects, max) {
      const red = db.selectFrom('build').select('branch_key').where(leavesRed('build'))
      const again = redAgain().select('branch_key').where(ofProjects('breakage.project_id', projects))
      return countOf(red.where(ofProjects('build.project_id', projects)).unionAll(again).limit(max))
    },

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
      return (await due.execute()).map(BUILD.fromRow)
    },

    async silentBuilds({ notAfter, notBefore }, limit) {
      const silent = builds()
        .where('at', '<=', notAfter)
        .where('at', '>=', notBefore)
        .where(({ or, eb }) => or([eb('asked_at', 'is', null), eb('asked_at', '<=', notAfter)]))
        .orderBy('at')
        .limit(limit)
      const running = await silent.where('is_running', '=', sql.lit(1)).execute()
      const waiting = await silent.where('status', '=', sql.lit('waiting')).execute()
      const all = [...running, ...waiting].sort((a, b) => a.at - b.at)
      return all.slice(0, limit).map(BUILD.fromRow)
    },
  } satisfies Partial<Reads>
}

export function writeBuilds(db: Kysely<Schema>, runQuery: RunQuery) {
  return {
    async saveBuild(build) {
      const row = {
        ...BUILD.toRow(build),
        build_key: buildKey(build.projectId, build.buildId),
        branch_key: branchKey(build.projectId, build.branch),
        is_running: build.status === 'started' ? 1 : 0,
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
      await markBuilds(db, runQuery, { project: row.project_id, branch: row.branch_key })
    },

    async setReadEndAt({ projectId, buildId, attempt, at: knownAt }, at) {
      await db
        .updateTable('build')
        .set({ read_end_at: at })
        .where('build_key', '=', buildKey(projectId, buildId))
        .where('run', '=', attempt)
        .where('at', '=', knownAt)
        .execute()
    },

    async setCiCheckedAt(some, at) {
      const keys = some.map(({ projectId, buildId }) => buildKey(projectId, buildId))
      if (keys.length > 0) await db.updateTable('build').set({ asked_at: at }).where('build_key', 'in', keys).execute()
    },

    async forgetBuild(projectId, buildId) {
      const removed = await db
        .deleteFrom('build')
        .where('build_key', '=', buildKey(projectId, buildId))
        .returning('branch_key')
        .execute()
      for (const row of removed) await markBuilds(db, runQuery, { project: projectId, branch: row.branch_key })
    },
  } satisfies Partial<Tx>
}

/**
 * Marks the newest build of the project, and the newest build of the branch with an outcome if it is red; unmarks those
 * that were marked before. Call it after each change of a build.
 */
export async function markBuilds(
  db: Kysely<Schema>,
  runQuery: RunQuery,
  { project, branch }: { project: string; branch: string },
): Promise<void> {
  const mark = (column: 'newest' | 'red', { marked, last, isMeant }: Record<'marked' | 'last' | 'isMeant', Sql>) =>
    db
      .updateTable('build')
      .set({ [column]: sql`1 - ${sql.ref(column)}` })
      .where(sql<boolean>`build_key in (${marked} union all select ${last})`)
      .where(sql<boolean>`${sql.ref(column)} <> case when build_key = ${last} and ${isMeant} then 1 else 0 end`)
  await runQuery('markNewest', { project }, (value) =>
    mark('newest', {
      marked: sql`select build_key from build where project_id = ${value('project')} and newest = 1`,
      last: sql`(select build_key from build where project_id = ${value('project')}
        order by build_order desc, build_key desc limit 1)`,
      isMeant: sql`1 = 1`,
    }),
  )
  await runQuery('markRed', { branch }, (value) =>
    mark('red', {
      marked: sql`select build_key from build where branch_key = ${value('branch')} and red = 1`,
      last: sql`(select build_key from build where branch_key = ${value('branch')} and status in (${sql.join(OUTCOMES)})
        and forgotten = 0
        order by build_order desc, build_key desc limit 1)`,
      isMeant: sql.join([sql`status in (${sql.join(RED)})`, ...HAS_STREAK], sql` and `),
    }),
  )
}

type Sql = RawBuilder<unknown>

/** Whether the results of a build's stream follow one another. */
const HAS_STREAK = WITHOUT_STREAK.map((end) => sql`coalesce(branch, '') not like ${sql.lit(`%${end}`)}`)
