import { type ExpressionBuilder, type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { BranchFilter } from '../../domain/pattern.ts'
import { sourceOf, type ProjectId, type SourceName, type Uuid } from '../../domain/ids.ts'
import { repositoryIn } from '../../domain/project-names.ts'
import type { NotificationRule } from '../../domain/rule.ts'
import { together } from '../../lib/async.ts'
import type { Schema } from '../schema.ts'
import type {
  DeliveredProject,
  KnownProject,
  ListedProject,
  ListedQuery,
  NameSearch,
  ProjectClaim,
} from '../records.ts'
import type { Reads, Tx } from '../store.ts'
import { type RunQuery, columns, isAmong, ofProjects } from './query.ts'

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

const toListedProject = (row: Selectable<Schema['project']>): ListedProject => ({
  ...toProject(row),
  readAt: row.read_at,
  buildsReadAt: row.looked_at,
})

const toDeliveredProject = (row: Selectable<Schema['heard']>): DeliveredProject => ({
  projectId: row.project_id as ProjectId,
  name: row.name,
  fullName: row.full_name,
  projectUuid: row.project_uuid as Uuid | null,
  at: row.at,
})

/** As JavaScript makes it, and not the database: they differ beyond a to z. */
const keyOf = (name: string): string => name.toLowerCase()

const heardKeys = ({ name, full_name: fullName }: Pick<Selectable<Schema['heard']>, 'name' | 'full_name'>) => ({
  name_key: keyOf(name),
  full_key: keyOf(fullName ?? name),
})

/** Sorts after every other character. */
const LAST_CHARACTER = '\u{10ffff}'

interface NameIndex {
  table: 'project' | 'heard'
  id: 'uuid' | 'project_id'
  key: 'name_key' | 'full_key'
}
const LISTED: NameIndex = { table: 'project', id: 'uuid', key: 'name_key' }
const DELIVERED: NameIndex = { table: 'heard', id: 'project_id', key: 'full_key' }

// Neither half a character nor U+0000 can be in a text that PostgreSQL compares.
const searchKey = (text: string): string => keyOf(text.toWellFormed().replaceAll('\0', ''))

function isLike(column: string, text: string, at: 'end' | 'anywhere'): RawBuilder<SqlBool> {
  const literal = searchKey(text).replace(/[\\%_]/g, String.raw`\$&`)
  return sql`${sql.ref(column)} like ${`%${literal}${at === 'end' ? '' : '%'}`} escape '\\'`
}

/** The ids of the names that are searched for, at most `limit`. It reads the index of names alone. */
function idsNamed({ table, id, key }: NameIndex, { text, at }: NameSearch, limit: number): RawBuilder<unknown> {
  const searched = searchKey(text)
  const some = (where: RawBuilder<unknown>, order: 'asc' | 'desc' = 'asc', most = limit) =>
    sql`select ${sql.ref(id)} from (select ${sql.ref(id)} from ${sql.table(table)} where ${where}
      order by ${sql.ref(key)} ${sql.raw(order)} limit ${most}) as ${sql.raw(order === 'asc' ? 'after' : 'before')}`
  switch (at) {
    case 'begin':
      return some(sql`${sql.ref(key)} >= ${searched} and ${sql.ref(key)} < ${searched + LAST_CHARACTER}`)
    case 'end':
    case 'anywhere':
      return some(isLike(key, text, at))
    case 'near': {
      const half = Math.ceil(limit / 2)
      const before = some(sql`${sql.ref(key)} < ${searched}`, 'desc', half)
      return sql`${some(sql`${sql.ref(key)} >= ${searched}`, 'asc', half)} union all ${before}`
    }
  }
}

type ProjectReads = Pick<
  Reads,
  | 'project'
  | 'listedProjects'
  | 'countListed'
  | 'listedAs'
  | 'deliveredAs'
  | 'searchListed'
  | 'searchDelivered'
  | 'namesakes'
  | 'deliveredProjects'
  | 'claimedProjects'
  | 'lastDeliveries'
>

/** Projects, as CI lists them and as deliveries call them. */
export function readProjects(db: Kysely<Schema>, runQuery: RunQuery): ProjectReads {
  const ofQuery = ({ text, type, readSince }: ListedQuery) =>
    db
      .selectFrom('project')
      .where((where) => where.or([where.not(ofCi(where)), where('read_at', '>=', readSince)]))
      .$if(type !== null, (query) =>
        query.where(sql`coalesce(type, case when legacy_id is not null then 'basic' end)`, '=', type),
      )
      .$if(text !== null, (query) => query.where(isLike('name_key', text ?? '', 'anywhere')))

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

    async listedProjects(query, { limit, offset }) {
      const sorted = ofQuery(query).selectAll().orderBy('name_key').orderBy('uuid')
      return (await sorted.limit(limit).offset(offset).execute()).map(toListedProject)
    },

    async countListed(query) {
      const { total, oldest } = await ofQuery(query)
        .select(({ fn }) => [fn.countAll().as('total'), fn.min('read_at').as('oldest')])
        .executeTakeFirstOrThrow()
      return { total: Number(total), oldestReadAt: oldest }
    },

    async listedAs(keys, limit) {
      const by = (column: string) => db.selectFrom('project').selectAll().where(isAmong(column, keys))
      const all = by('uuid').union(by('legacy_id')).union(by('name_key'))
      return (await all.orderBy('name_key').orderBy('uuid').limit(limit).execute()).map(toListedProject)
    },

    async deliveredAs(keys, limit) {
      const by = (column: string) => db.selectFrom('heard').selectAll().where(isAmong(column, keys))
      const all = by('project_id').union(by('project_uuid')).union(by('name_key')).union(by('full_key'))
      return (await all.orderBy('name_key').orderBy('project_id').limit(limit).execute()).map(toDeliveredProject)
    },

    async searchListed(search, limit) {
      const found = db.selectFrom('project').selectAll()
      const named = found.where('uuid', 'in', sql<string>`(${idsNamed(LISTED, search, limit)})`)
      return (await named.orderBy('name_key').orderBy('uuid').execute()).map(toListedProject)
    },

    async searchDelivered(search, limit) {
      const found = db.selectFrom('heard').selectAll()
      const named = found.where('project_id', 'in', sql<string>`(${idsNamed(DELIVERED, search, limit)})`)
      return (await named.orderBy('full_key').orderBy('project_id').execute()).map(toDeliveredProject)
    },

    async namesakes(names) {
      const keys = names.map(keyOf)
      if (keys.length === 0) return []
      const delivered = (key: 'name_key' | 'full_key') =>
        db
          .selectFrom('heard')
          .select([key, sourceWord('project_id')])
          .distinct()
          .where(isAmong(key, keys))
          .execute()
      const [byName, byFullName] = [await delivered('name_key'), await delivered('full_key')]
      const listed = await db
        .selectFrom('project')
        .select(['name_key', sourceWord('legacy_id')])
        .distinct()
        .where(isAmong('name_key', keys))
        .execute()
      return [
        ...byName.map(({ name_key: name, source }) => ({ name: name!, source, isListed: false })),
        ...byFullName.map(({ full_key: name, source }) => ({ name: name!, source, isListed: false })),
        ...listed.map(({ name_key: name, source }) => ({ name: name!, source, isListed: source === 'ci' })),
      ]
    },

    async deliveredProjects(projects, order, limit) {
      const some = db.selectFrom('heard').selectAll().where(ofProjects('heard.project_id', projects))
      const sorted = some.orderBy('full_key', order).orderBy('project_id', order)
      return (await sorted.limit(limit).execute()).map(toDeliveredProject)
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
      const row = {
        name,
        name_key: keyOf(name),
        type,
        rules: jsonText(rules),
        filter: jsonText(filter),
        read_at: readAt,
      }
      await db
        .insertInto('project')
        .values({ uuid, legacy_id: legacyId, ...row })
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

    async addProject({ uuid, name, legacyId, type, rules, filter }) {
      await db
        .insertInto('project')
        .values({
          uuid,
          name,
          name_key: keyOf(name),
          legacy_id: legacyId,
          type,
          rules: jsonText(rules),
          filter: jsonText(filter),
          read_at: 0,
        })
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
      const called = { name, full_name: fullName }
      const row = { project_id: projectId, ...called, ...heardKeys(called), project_uuid: projectUuid, at }
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
