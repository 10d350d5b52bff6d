import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import { repositoryOf, sourceOf } from '../../domain/ids.ts'
import { repositoryIn } from '../../domain/ci-project/project-names.ts'
import { together } from '../../lib/async.ts'
import type { Schema } from '../schema.ts'
import type { ListedQuery, ProjectClaim } from '../records.ts'
import type { Reads, Tx } from '../store.ts'
import { contains, DELIVERED_PROJECT, keyOf, LISTED_PROJECT, PROJECT } from './project-names.ts'
import { type RunQuery, columns, ofProjects } from './query.ts'

const ofCi = ({ or, eb }: ExpressionBuilder<Schema, 'project'>) =>
  or([eb('legacy_id', 'is', null), eb('legacy_id', 'not like', sql.lit('%:%'))])

const heardKeys = ({ name, full_name: fullName }: Pick<Selectable<Schema['heard']>, 'name' | 'full_name'>) => ({
  name_key: keyOf(name),
  full_key: keyOf(fullName ?? name),
})

export function readProjects(db: Kysely<Schema>, runQuery: RunQuery) {
  const ofQuery = ({ text, type, readSince }: ListedQuery) =>
    db
      .selectFrom('project')
      .where((where) => where.or([where('read_at', '>=', readSince), where.not(ofCi(where))]))
      .$if(type !== null, (query) =>
        query.where(sql`coalesce(type, case when legacy_id is not null then 'basic' end)`, '=', type),
      )
      .$if(text !== null, (query) => query.where(contains('name_key', text ?? '')))

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
      if (byId) return PROJECT.fromRow(byId)
      // Only the CI service's projects are found by name. Other sources may use the same names; theirs are found by id.
      if (sourceOf(legacyId) !== 'ci') return null
      const byName = (name: string) =>
        runQuery('projectByName', { name }, (value) =>
          db.selectFrom('project').selectAll().where('name', '=', value('name')).where(ofCi).limit(sql.lit(2)),
        )
      const found = (await together([...new Set(names)].map(byName))).flat()
      // If two projects have the name, it is not clear whose rules are meant, so none are used.
      return new Set(found.map((row) => row.uuid)).size === 1 ? PROJECT.fromRow(found[0]!) : null
    },

    async listedProjects(query, { limit, offset }) {
      const sorted = ofQuery(query).selectAll().orderBy('name_key').orderBy('uuid')
      return (await sorted.limit(limit).offset(offset).execute()).map(LISTED_PROJECT.fromRow)
    },

    async countListed(query) {
      const { total, oldest } = await ofQuery(query)
        .select(({ fn }) => [fn.countAll().as('total'), fn.min('read_at').as('oldest')])
        .executeTakeFirstOrThrow()
      return { total: Number(total), oldestReadAt: oldest }
    },

    async deliveredProjects(projects, order, limit) {
      const some = db.selectFrom('heard').selectAll().where(ofProjects('heard.project_id', projects))
      const sorted = some.orderBy('full_key', order).orderBy('project_id', order)
      return (await sorted.limit(limit).execute()).map(DELIVERED_PROJECT.fromRow)
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
      return rows.map((row) => ({ project: PROJECT.fromRow(row), claim: JSON.parse(row.claim!) as ProjectClaim }))
    },
  } satisfies Partial<Reads>
}

export function writeProjects(db: Kysely<Schema>, runQuery: RunQuery) {
  return {
    async saveProject({ legacyId, readAt, ...project }) {
      const { uuid, name } = project
      const row = { ...PROJECT.toRow(project), name_key: keyOf(name), read_at: readAt }
      if (readAt > 0) await keepFormerName(db, uuid, name)
      await db
        .insertInto('project')
        .values({ ...row, legacy_id: legacyId })
        .onConflict((conflict) =>
          conflict.column('uuid').doUpdateSet(legacyId === null ? row : { ...row, legacy_id: legacyId }),
        )
        .execute()
      if (sourceOf(legacyId) === 'ci') return
      // Their builds are listed under the same name.
      const called = { name, full_name: repositoryIn(name) }
      await db
        .updateTable('heard')
        .set({ ...called, ...heardKeys(called) })
        .where('project_id', '=', legacyId)
        .where('name', '<>', name)
        .execute()
    },

    async addProject(project) {
      await db
        .insertInto('project')
        .values({ ...PROJECT.toRow(project), name_key: keyOf(project.name), read_at: 0 })
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

    async saveDeliveredProject(project) {
      const called = DELIVERED_PROJECT.toRow(project)
      const row = { ...called, ...heardKeys(called), repository: repositoryOf(project.projectId) }
      await runQuery('saveDeliveredProject', row, (value) =>
        db
          .insertInto('heard')
          .values(columns(row, value))
          .onConflict((conflict) =>
            conflict.column('project_id').doUpdateSet(({ eb, ref }) => ({
              ...columns(row, value),
              at: eb
                .case()
                .when('heard.at', '<', ref('excluded.at'))
                .then(ref('excluded.at'))
                .else(ref('heard.at'))
                .end(),
            })),
          ),
      )
    },
  } satisfies Partial<Tx>
}

/**
 * A source has renamed a project: subscriptions by its old name still mean it. A name that only deliveries have used
 * may be forged, and does not count as a former name.
 */
async function keepFormerName(db: Kysely<Schema>, uuid: string, now: string): Promise<void> {
  const confirmed = db.selectFrom('project').select('name').where('uuid', '=', uuid).where('read_at', '>', 0)
  const stored = await confirmed.executeTakeFirst()
  if (!stored || keyOf(stored.name) === keyOf(now)) return
  const former = [
    { name_key: keyOf(stored.name), uuid, of_repository: 0 },
    { name_key: keyOf(repositoryIn(stored.name)), uuid, of_repository: 1 },
  ].filter(({ name_key: key }) => key !== keyOf(now) && key !== keyOf(repositoryIn(now)))
  for (const row of former.filter((one, at) => former.findIndex(({ name_key: key }) => key === one.name_key) === at))
    await db
      .insertInto('former_name')
      .values(row)
      .onConflict((conflict) => conflict.column('name_key').doUpdateSet(row))
      .execute()
}

const claimText = ({ name, rules }: ProjectClaim): string => JSON.stringify({ name, rules })
