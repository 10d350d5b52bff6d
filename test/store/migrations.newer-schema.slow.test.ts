import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { migrationsOf } from '../../src/store/migrations.ts'
import { startPostgres } from '../support/postgres.ts'
import { postgresPlaces, sqlitePlaces, type Place, type Places } from '../support/stores.ts'
import { cardClaims } from './claims/cards.ts'
import { buildEventClaims } from './claims/build-events.ts'
import { ingestClaims } from './claims/ingest.ts'
import { leaseClaims } from './claims/leases.ts'
import { messageClaims } from './claims/messages.ts'
import { subscriptionClaims } from './claims/subscriptions.ts'
import { hear, waiting } from './given.ts'

/** What the next version may do to the tables of this one: add things. */
const NEWER = [
  'alter table fact add column weather text',
  'alter table card add column weather text',
  'alter table message add column weather text',
  "alter table subscription add column weather text default 'fair'",
  'create table forecast (day text primary key, weather text not null)',
  'create index card_weather on card (weather)',
  `insert into kysely_migration (name, timestamp) values ('9999-weather', '2030-01-01T00:00:00.000Z')`,
]

const planted = new Set<string>()

async function plant(place: Place): Promise<Place> {
  if (planted.has(place.url)) return place
  planted.add(place.url)
  for (const statement of NEWER) await place.sql(statement)
  return place
}

const newer = (places: Places): Places => ({ ...places, open: async () => plant(await places.open()) })

const sqlite = await sqlitePlaces()
const server = await startPostgres()
const postgres = 'impossible' in server ? null : await postgresPlaces(server)
afterAll(async () => {
  await Promise.all([sqlite[Symbol.asyncDispose](), postgres?.[Symbol.asyncDispose]()])
})

describe('with the schema of a newer version', () => {
  describe('in SQLite', () => {
    for (const claims of [messageClaims, subscriptionClaims]) claims(() => newer(sqlite))
    besideClaims(() => sqlite)
  })

  describe.skipIf(!postgres)('in PostgreSQL', () => {
    const places = () => newer(postgres!)
    for (const claims of [buildEventClaims, ingestClaims, cardClaims, messageClaims, subscriptionClaims, leaseClaims])
      claims(places)
    besideClaims(() => postgres!)
  })
})

function besideClaims(places: () => Places): void {
  test('an older process continues while a newer one migrates the tables, and can start again', async () => {
    await using place = await places().open()
    await hear(place.store)
    await plant(place)
    await hear(place.store, { word: 'success' })
    const again = place.another()
    await again.migrate()
    await hear(again, { word: 'error' })
    expect(await waiting(place.store.read)).toHaveLength(3)
  })

  test('a schema that lacks one of our migrations but has unknown ones is refused', async () => {
    await using place = await places().openEmpty()
    await place.store.migrate()
    await place.sql(`insert into kysely_migration (name, timestamp) values ('0003-other', '2030-01-01T00:00:00.000Z')`)
    await place.sql(`delete from kysely_migration where name = '0006-several-processes'`)
    await expect(place.another().migrate()).rejects.toThrow('could not be brought up to date')
  })
}

describe('a migration', () => {
  const source = readFileSync(join(import.meta.dirname, '..', '..', 'src', 'store', 'migrations.ts'), 'utf8')
  const all = [...source.matchAll(/^  '(\d{4}-[a-z-]+)': .*?(?=^  '\d{4}-|^\}$)/gms)].map(
    ([entry, name]) => [name!, entry] as const,
  )
  const ruled = all.filter(([name]) => name >= '0006')

  /** What would break an older process that still runs. */
  const notAdditive = (text: string): string[] =>
    [...text.matchAll(/\bdrop (?:table|column)\b|\brename\b|\balter column\b|add column \w+[^`]*\bnot null\b[^`]*/g)]
      .map(([found]) => found)
      .filter((found) => !/not null default/.test(found))

  test.each(ruled)('only adds to the schema: %s', (_, entry) => {
    expect(notAdditive(entry)).toEqual([])
  })

  test('is found by its name', () => {
    expect(all.map(([name]) => name)).toEqual(Object.keys(migrationsOf({ name: 'sqlite' })))
  })

  test.each([
    'alter table card drop column plain',
    'drop table pace',
    'alter table card rename to cards',
    'alter table card alter column plain type text',
    'alter table card add column mood text not null',
  ])('that does more is detected: %s', (statement) => {
    expect(notAdditive(`sql\`${statement}\``)).toHaveLength(1)
  })
})
