import { type ExpressionBuilder, type Selectable, sql, type Kysely } from 'kysely'
import type { BranchFilter } from '../../domain/pattern.ts'
import { sourceOf, type ProjectId, type SourceName, type Uuid } from '../../domain/ids.ts'
import { repositoryIn } from '../../domain/project-names.ts'
import type { NotificationRule } from '../../domain/rule.ts'
import { together } from '../../lib/async.ts'
import type { Schema } from '../schema.ts'
import type { DeliveredProject, KnownProject, ProjectClaim } from '../records.ts'
import type { Reads, Tx } from '../store.ts'
import { type RunQuery, columns } from './query.ts'

const toProject = (row: Selectable<Schema['project']>): KnownProject => ({
  uuid: row.uuid as Uuid,
  name: row.name,
  legacyId: row.legacy_id,
  type: row.type,
  rules: row.rules === null ? null : (JSON.parse(row.rules) as NotificationRule[]),
  filter: row.filter === null ? null : (JSON.parse(row.filter) as BranchFilter),
})

const ofCi = ({ or, eb }: ExpressionBuilder<Schema, 'project'>) =>
  or([eb('legacy_id', 'is', null), eb('legacy_id', 'not like', sql.lit('%:%'))])

const sourceWord = (id: string) =>
  sql<SourceName>`case when ${sql.ref(id)} like 'github:%' then 'github' when ${sql.ref(id)} like 'gitlab:%' then 'gitlab' else 'ci' end`.as(
    'source',
  )

const toDeliveredProject = (row: Selectable<Schema['heard']>): DeliveredProject => ({
  projectId: row.project_id as ProjectId,
  name: row.name,
  fullName: row.full_name,
  projectUuid: row.project_uuid as Uuid | null,
  at: row.at,
})

type ProjectReads = Pick<
  Reads,
  'project' | 'projects' | 'namesakes' | 'deliveredProjects' | 'claimedProjects' | 'lastDeliveries'
>

/** Projects, as CI lists them and as deliveries call them. */
export function readProjects(db: Kysely<Schema>, runQuery: RunQuery): ProjectReads {
  return {
    async project({ uuid, legacyId, names }) {
      const [byUuid] =
        uuid === null
          ? []
          : await runQuery('projectByUuid', { uuid }, (value) =>
              db.selectFrom('project').selectAll().where('uuid', '=', value('uuid')),
            )
      const [byId] = byUuid
        ? [byUuid]
        : await runQuery('projectByLegacyId', { legacyId }, (value) =>
            db.selectFrom('project').selectAll().where('legacy_id', '=', value('legacyId')).limit(sql.lit(1)),
          )
      if (byId) return toProject(byId)
      // Only the CI service's projects are found by name. Other sources may use the same names; theirs are found by id.
      if (sourceOf(legacyId) !== 'ci') return null
      const byName = (name: string) =>
        runQuery('projectByName', { name }, (value) =>
          db.selectFrom('project').selectAll().where('name', '=', value('name')).where(ofCi).limit(sql.lit(2)),
        )
      const found = (await together([...new Set(names)].map(byName))).flat()
      // If two projects have the name, it is not clear whose rules are meant, so none are used.
      return new Set(found.map((row) => row.uuid)).size === 1 ? toProject(found[0]!) : null
    },

    async projects() {
      const rows = await db.selectFrom('project').selectAll().orderBy('name').orderBy('uuid').execute()
      return rows.map((row) => ({ ...toProject(row), readAt: row.read_at, buildsReadAt: row.looked_at }))
    },

    async namesakes(names) {
      if (names.length === 0) return []
      const wanted = sql.join([...new Set(names.flatMap((name) => [name, name.toLowerCase()]))])
      const isWanted = (column: string) => sql<boolean>`lower(${sql.ref(column)}) in (${wanted})`
      const delivered = await db
        .selectFrom('heard')
        .select(['name', 'full_name', sourceWord('project_id')])
        .distinct()
        .where(({ or }) => or([isWanted('name'), isWanted('full_name')]))
        .execute()
      const listed = await db
        .selectFrom('project')
        .select(['name', sourceWord('legacy_id')])
        .distinct()
        .where(isWanted('name'))
        .execute()
      return [
        ...delivered.flatMap(({ name, full_name: fullName, source }) =>
          [name, fullName ?? name].map((one) => ({ name: one, source, isListed: false })),
        ),
        ...listed.map((row) => ({ ...row, isListed: row.source === 'ci' })),
      ]
    },

    async deliveredProjects() {
      return (await db.selectFrom('heard').selectAll().orderBy('name').execute()).map(toDeliveredProject)
    },

    async claimedProjects(after, limit) {
      const rows = await db
        .selectFrom('project')
        .selectAll()
        .where('claim', 'is not', null)
        .where('uuid', '>', after)
        .orderBy('uuid')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ project: toProject(row), claim: JSON.parse(row.claim!) as ProjectClaim }))
    },

    async lastDeliveries(limit) {
      // No index: the table has one row per project, and an index would cost every delivery a write.
      const rows = await db
        .selectFrom('heard')
        .select(['name', 'full_name', 'at'])
        .where('at', '>', 0)
        .orderBy('at', 'desc')
        .orderBy('name')
        .limit(limit)
        .execute()
      return rows.map(({ name, full_name: fullName, at }) => ({ project: fullName ?? name, at }))
    },
  }
}

type ProjectWrites = Pick<
  Tx,
  | 'saveProject'
  | 'addProject'
  | 'claimProject'
  | 'settleClaim'
  | 'forgetUnreadProject'
  | 'linkLegacyProject'
  | 'setBuildsReadAt'
  | 'forgetProjects'
  | 'saveDeliveredProject'
>

/** Projects, as CI lists them and as deliveries call them. */
export function writeProjects(db: Kysely<Schema>, runQuery: RunQuery): ProjectWrites {
  return {
    async saveProject({ uuid, name, legacyId, type, rules, filter, readAt }) {
      const row = { name, type, rules: jsonText(rules), filter: jsonText(filter), read_at: readAt }
      await db
        .insertInto('project')
        .values({ uuid, legacy_id: legacyId, ...row })
        .onConflict((conflict) =>
          conflict.column('uuid').doUpdateSet(legacyId === null ? row : { ...row, legacy_id: legacyId }),
        )
        .execute()
      if (sourceOf(legacyId) === 'ci') return
      // Their builds are listed under the same name.
      await db
        .updateTable('heard')
        .set({ name, full_name: repositoryIn(name) })
        .where('project_id', '=', legacyId)
        .where('name', '<>', name)
        .execute()
    },

    async addProject({ uuid, name, legacyId, type, rules, filter }) {
      await db
        .insertInto('project')
        .values({ uuid, name, legacy_id: legacyId, type, rules: jsonText(rules), filter: jsonText(filter), read_at: 0 })
        .onConflict((conflict) => conflict.column('uuid').doNothing())
        .execute()
    },

    async claimProject(uuid, claim) {
      const text = claimText(claim)
      await db
        .updateTable('project')
        .set({ claim: text })
        .where('uuid', '=', uuid)
        .where(({ or, eb }) => or([eb('claim', 'is', null), eb('claim', '<>', text)]))
        .execute()
    },

    async settleClaim(uuid, claim) {
      const ofProject = db.updateTable('project').set({ claim: null }).where('uuid', '=', uuid)
      await ofProject.where('claim', '=', claimText(claim)).execute()
    },

    async forgetUnreadProject(uuid) {
      const unread = db.deleteFrom('project').where('uuid', '=', uuid).where('read_at', '=', 0)
      return (await unread.executeTakeFirstOrThrow()).numDeletedRows > 0
    },

    async linkLegacyProject(uuid, legacyId, readAt) {
      await db.updateTable('project').set({ legacy_id: legacyId, read_at: readAt }).where('uuid', '=', uuid).execute()
    },

    async setBuildsReadAt(uuid, at) {
      await db.updateTable('project').set({ looked_at: at }).where('uuid', '=', uuid).execute()
    },

    async forgetProjects(readBeforeMs) {
      // The list that was read is the CI service's, so other sources' projects stay.
      const old = db.deleteFrom('project').where('read_at', '<', readBeforeMs)
      await old.where(ofCi).execute()
    },

    async saveDeliveredProject({ projectId, name, fullName, projectUuid, at }, most = Number.POSITIVE_INFINITY) {
      const row = { project_id: projectId, name, full_name: fullName, project_uuid: projectUuid, at }
      const known = await runQuery('updateDeliveredProject', row, (value) =>
        db
          .updateTable('heard')
          .set(({ eb }) => ({
            ...columns(row, value),
            at: eb.case().when('at', '<', value('at')).then(value('at')).else(eb.ref('at')).end(),
          }))
          .where('project_id', '=', value('project_id'))
          .returning('project_id'),
      )
      if (known.length > 0) return true
      if (most !== Number.POSITIVE_INFINITY && (await countDelivered(db)) >= most) return false
      await runQuery('insertDeliveredProject', row, (value) =>
        db
          .insertInto('heard')
          .values(columns(row, value))
          .onConflict((conflict) => conflict.column('project_id').doUpdateSet(columns(row, value))),
      )
      return true
    },
  }
}

async function countDelivered(db: Kysely<Schema>): Promise<number> {
  const { count } = await db
    .selectFrom('heard')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

const claimText = ({ name, rules }: ProjectClaim): string => JSON.stringify({ name, rules })

const jsonText = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))
