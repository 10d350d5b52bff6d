import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { repositoryOf, type SourceName } from '../../domain/ids.ts'
import { repositoryIn } from '../../domain/ci-project/project-names.ts'
import type { DeliveredProject, KnownProject, ListedProject, NameSearch } from '../records.ts'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import { isAmong } from './query.ts'
import { type Columns, JSON_TEXT, mapping } from './rows.ts'

const COLUMNS = {
  uuid: 'uuid',
  name: 'name',
  legacyId: 'legacy_id',
  type: 'type',
  rules: ['rules', JSON_TEXT],
} as const satisfies Columns<'project', KnownProject>

export const PROJECT = mapping<'project', KnownProject>(COLUMNS)

export const LISTED_PROJECT = mapping<'project', ListedProject>({
  ...COLUMNS,
  readAt: 'read_at',
  buildsReadAt: 'looked_at',
})

export const DELIVERED_PROJECT = mapping<'heard', DeliveredProject>({
  projectId: 'project_id',
  name: 'name',
  fullName: 'full_name',
  projectUuid: 'project_uuid',
  at: 'at',
})

/** In JavaScript and not in the database: they differ for letters beyond a to z. */
export const keyOf = (name: string): string => name.toLowerCase()

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

export function isLike(column: string, text: string, at: 'end' | 'anywhere'): RawBuilder<SqlBool> {
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

/** One name may stand for any number of the CI service's projects, so their ids are left out. */
const hostedId = (id: RawBuilder<unknown>) =>
  sql<string | null>`case when ${id} like 'github:%' or ${id} like 'gitlab:%' then ${id} end`.as('id')

const sourceWord = (id: string) =>
  sql<SourceName>`case when ${sql.ref(id)} like 'github:%' then 'github' when ${sql.ref(id)} like 'gitlab:%' then 'gitlab' else 'ci' end`.as(
    'source',
  )

export const readNames = (db: Kysely<Schema>) =>
  ({
    async listedAs(keys, limit) {
      const by = (column: string) => db.selectFrom('project').selectAll().where(isAmong(column, keys))
      const all = by('uuid').union(by('legacy_id')).union(by('name_key'))
      return (await all.orderBy('name_key').orderBy('uuid').limit(limit).execute()).map(LISTED_PROJECT.fromRow)
    },

    async deliveredAs(keys, limit) {
      const by = (column: string) => db.selectFrom('heard').selectAll().where(isAmong(column, keys))
      const byId = by('project_id').union(by('project_uuid')).union(by('repository'))
      const all = byId.union(by('name_key')).union(by('full_key'))
      return (await all.orderBy('name_key').orderBy('project_id').limit(limit).execute()).map(DELIVERED_PROJECT.fromRow)
    },

    async searchListed(search, limit) {
      const found = db.selectFrom('project').selectAll()
      const named = found.where('uuid', 'in', sql<string>`(${idsNamed(LISTED, search, limit)})`)
      return (await named.orderBy('name_key').orderBy('uuid').execute()).map(LISTED_PROJECT.fromRow)
    },

    async searchDelivered(search, limit) {
      const found = db.selectFrom('heard').selectAll()
      const named = found.where('project_id', 'in', sql<string>`(${idsNamed(DELIVERED, search, limit)})`)
      return (await named.orderBy('full_key').orderBy('project_id').execute()).map(DELIVERED_PROJECT.fromRow)
    },

    async namesakes(names) {
      const keys = names.map(keyOf)
      if (keys.length === 0) return []
      const delivered = (key: 'name_key' | 'full_key', id: RawBuilder<unknown>) =>
        db
          .selectFrom('heard')
          .select([key, sourceWord('project_id'), hostedId(id)])
          .distinct()
          .where(isAmong(key, keys))
          .execute()
      const byName = await delivered('name_key', sql.ref('project_id'))
      const byFullName = await delivered('full_key', sql`coalesce(repository, project_id)`)
      const listed = await db
        .selectFrom('project')
        .select(['name_key', sourceWord('legacy_id'), hostedId(sql.ref('legacy_id'))])
        .distinct()
        .where(isAmong('name_key', keys))
        .execute()
      return [
        ...byName.map(({ name_key: name, ...one }) => ({ ...one, name: name!, isListed: false })),
        ...byFullName.map(({ full_key: name, ...one }) => ({ ...one, name: name!, isListed: false })),
        ...listed.map(({ name_key: name, ...one }) => ({ ...one, name: name!, isListed: one.source === 'ci' })),
      ]
    },

    async renamed(names) {
      const keys = names.map(keyOf)
      if (keys.length === 0) return []
      const rows = await db
        .selectFrom('former_name')
        .innerJoin('project', 'project.uuid', 'former_name.uuid')
        .select(['former_name.name_key', 'former_name.of_repository', 'project.name', 'project.legacy_id'])
        .where(isAmong('former_name.name_key', keys))
        .execute()
      return rows.flatMap(({ name_key: former, of_repository: ofRepository, name, legacy_id: id }) => {
        if (id === null) return []
        const isOfRepository = ofRepository === 1
        return {
          former,
          id: isOfRepository ? (repositoryOf(id) ?? id) : id,
          name: isOfRepository ? repositoryIn(name) : name,
        }
      })
    },
  }) satisfies Partial<Reads>
