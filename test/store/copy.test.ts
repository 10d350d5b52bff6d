import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { copyAll, NotEmpty, postgresSide, sqliteSide, type CopySide } from '../../src/store/copy.ts'
import { startPostgres } from '../support/postgres.ts'
import { postgresPlaces, sqlitePlaces, type Place, type Places } from '../support/stores.ts'
import { buildEvent, hear } from './given.ts'

const files = await sqlitePlaces()
const server = await startPostgres()
const databases = 'impossible' in server ? null : await postgresPlaces(server)
afterAll(async () => {
  await files[Symbol.asyncDispose]()
  if (!('impossible' in server)) await server[Symbol.asyncDispose]()
})

async function sideOf({ kind, url }: Place): Promise<CopySide> {
  const side = kind === 'sqlite' ? sqliteSide(url.slice('sqlite:'.length)) : await postgresSide(url)
  onTestFinished(() => side.close())
  return side
}

async function fresh(places: Places): Promise<Place> {
  const place = await places.open()
  onTestFinished(() => place[Symbol.asyncDispose]())
  return place
}

/** All rows, by table. */
async function dump(place: Place): Promise<Record<string, readonly object[]>> {
  const all: Record<string, object[]> = {}
  const side = await sideOf(place)
  await side.readAll(async (table, rows) => void (all[table] ??= []).push(...rows.map((row) => ({ ...row }))))
  return all
}

const ROWS = 3
const TEXT = 'Ada’s „x“ ;\'"\\ 构建 🚀\n'

/** A file with rows in every table: numbers, text in several scripts, and nulls. */
async function filled(): Promise<Place> {
  const place = await fresh(files)
  const tables = await place.sql(`select name from sqlite_master where type = 'table' and name not like 'kysely%'
    and name not like 'sqlite%'`)
  for (const { name } of tables)
    for (let n = 1; n <= ROWS; n++) {
      const columns = await place.sql(`select * from pragma_table_info('${String(name)}')`)
      const values = columns.map(({ type, notnull, pk }) => {
        if (!notnull && !pk && n === ROWS) return 'null'
        if (String(type).toLowerCase() === 'text') return `'${(TEXT + n).replaceAll("'", "''")}'`
        return String(type) === 'bigint' ? String(n * 1_000_000_000_000) : String(n)
      })
      await place.sql(`insert into "${String(name)}" values (${values.join(', ')})`)
    }
  return place
}

const WAYS: [string, Places | null][] = [
  ['a file', files],
  ['PostgreSQL', databases],
]

describe.each(WAYS.filter((way): way is [string, Places] => way[1] !== null))('a copy into %s', (_, places) => {
  test('has every row of every table, and is the same when copied back', async () => {
    const source = await filled()
    const target = await fresh(places)
    const copied = await copyAll(await sideOf(source), await sideOf(target))
    const before = await dump(source)
    expect(Object.keys(before).length).toBeGreaterThan(15)
    expect(await dump(target)).toEqual(before)
    expect([...copied.values()]).toEqual(Object.keys(before).map(() => ROWS))
    const back = await fresh(files)
    await copyAll(await sideOf(target), await sideOf(back))
    expect(await dump(back)).toEqual(before)
  })

  test('continues the numbering of the original', async () => {
    const source = await fresh(files)
    for (let n = 1; n <= 5; n++) await hear(source.store, { after: n })
    const target = await fresh(places)
    await copyAll(await sideOf(source), await sideOf(target))
    expect(await hear(target.store, { after: 6 })).toBe(6)
  })

  test('has the rows that existed at its beginning, and no incomplete ones, while others write', async () => {
    const source = await fresh(files)
    for (let n = 1; n <= 700; n++) void hear(source.store, { after: n })
    await hear(source.store, { after: 701 })
    const target = await fresh(places)
    const side = await sideOf(source)
    const to = await sideOf(target)
    await to.fill((put) =>
      side.readAll(async (table, rows) => {
        await source.store.write(async (tx) => {
          const eventSeq = await tx.insertBuildEvent(...buildEvent({ after: 1_000 }))
          await tx.insertDelivery({ receivedAt: 1, answer: 'recorded', eventSeq, body: '{}' })
        })
        await put(table, rows)
      }),
    )
    const copy = await dump(target)
    expect(copy['fact']).toHaveLength(701)
    expect(copy['delivery']).toBeUndefined()
  })

  test('into a database that is not empty is refused, and changes nothing there', async () => {
    const source = await filled()
    const target = await fresh(places)
    await hear(target.store)
    const before = await dump(target)
    await expect(copyAll(await sideOf(source), await sideOf(target))).rejects.toThrow(NotEmpty)
    expect(await dump(target)).toEqual(before)
  })

  test('that fails leaves nothing', async () => {
    const source = await filled()
    const target = await fresh(places)
    const [from, to] = [await sideOf(source), await sideOf(target)]
    let tables = 0
    const broken = from.readAll.bind(from)
    from.readAll = (each) =>
      broken(async (table, rows) => {
        if (++tables > 4) throw new Error('the disk is gone')
        await each(table, rows)
      })
    await expect(copyAll(from, to)).rejects.toThrow('the disk is gone')
    expect(await dump(target)).toEqual({})
  })
})

if (databases === null) test.skip('a copy into PostgreSQL is NOT TESTED here', () => {})
