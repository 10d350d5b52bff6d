import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { repositoryOf, type SourceName } from '../../domain/ids.ts'
import { repositoryIn } from '../../domain/ci-project/project-names.ts'
import { together } from '../../lib/async.ts'
import type { DeliveredProject, KnownProject, ListedProject, NameSearch } from '../records.ts'
import type { Schema } from '../schema.ts'
import type { Reads } from '../store.ts'
import { isAmong } from './query.ts'
import { lastPartOf } from '../migrations.ts'
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
/** Sorts right after a blank. */
const AFTER_BLANK = '!'

interface NameIndex {
  table: 'project' | 'heard'
  id: 'uuid' | 'project_id'
  key: 'name_key' | 'full_key'
}
const LISTED: NameIndex = { table: 'project', id: 'uuid', key: 'name_key' }
const DELIVERED: NameIndex = { table: 'heard', id: 'project_id', key: 'full_key' }

// Neither half a character nor U+0000 can be in a text that PostgreSQL compares.
const searchKey = (text: string): string => keyOf(text.toWellFormed().replaceAll('\0', ''))

export function contains(column: string, text: string): RawBuilder<SqlBool> {
  const literal = searchKey(text).replace(/[\\%_]/g, String.raw`\$&`)
  return sql`${sql.ref(column)} like ${`%${literal}%`} escape '\\'`
}

/** The ids of the names that are searched for, at most `limit`. It reads indexes of names alone. */
const idsNamed = ({ table, id, key }: NameIndex, search: NameSearch, limit: number): RawBuilder<string> =>
  sql`(select ${sql.ref(id)} from (select ${sql.ref(id)} from ${sql.table(table)} where ${isNamed(key, search)}
    order by ${sql.ref(key)} limit ${limit}) as named)`

function isNamed(key: NameIndex['key'], { text, at }: NameSearch): RawBuilder<SqlBool> {
  const searched = searchKey(text)
  switch (at) {
    case 'begin':
      return sql`${sql.ref(key)} >= ${searched} and ${sql.ref(key)} < ${searched + LAST_CHARACTER}`
    case 'whole':
      return sql`${sql.ref(key)} >= ${searched} and ${sql.ref(key)} < ${searched + AFTER_BLANK}`
    case 'last':
      return sql`${lastPartOf(key)} = ${searched} and ${sql.ref(key)} <> ${searched}`
    case 'anywhere':
      return contains(key, text)
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
      const named = found.where('uuid', 'in', idsNamed(LISTED, search, limit))
      return (await named.orderBy('name_key').orderBy('uuid').execute()).map(LISTED_PROJECT.fromRow)
    },

    async searchDelivered(search, limit) {
      const found = db.selectFrom('heard').selectAll()
      const named = found.where('project_id', 'in', idsNamed(DELIVERED, search, limit))
      return (await named.orderBy('full_key').orderBy('project_id').execute()).map(DELIVERED_PROJECT.fromRow)
    },

    async namesAround(text, limit) {
      const beside = ({ table, key }: NameIndex, isAfter: boolean) =>
        sql<{ name: string }>`select ${sql.ref(key)} as name from ${sql.table(table)}
          where ${sql.ref(key)} ${isAfter ? sql`>=` : sql`<`} ${searchKey(text)}
          order by ${sql.ref(key)} ${isAfter ? sql`asc` : sql`desc`} limit ${Math.ceil(limit / 4)}`.execute(db)
      const sides = [LISTED, DELIVERED].flatMap((index) => [beside(index, false), beside(index, true)])
      const names = (await together(sides)).map(({ rows }) => rows.map(({ name }) => name))
      return names.flatMap((some, at) => (at % 2 === 0 ? some.toReversed() : some))
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
