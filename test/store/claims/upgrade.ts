import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Dialect,
} from 'kysely'
import { expect, test } from 'vitest'
import { branchKey } from '../../../src/domain/builds/revision.ts'
import { LATE_START_MS } from '../../../src/domain/builds/attempt.ts'
import { migrationsOf } from '../../../src/store/migrations.ts'
import { channelId, HOUR, MINUTE, projectId, SECOND, T0 } from '../../support/build-events.ts'
import type { Place, Places } from '../../support/stores.ts'
import { dueKeys, hear, REVISION, several } from '../given.ts'

const WEB_UUID = '11111111-aaaa-0000-0000-000000000001'

/** A build event in the first schema: by default of build 512 of acme/web, ingested. */
interface OldBuildEvent {
  word: string
  build?: string
  project?: string
  after?: number
  cardNumber?: number | null
  details?: object
}

/** Databases from before people could act on builds. */
export function upgradeClaims(places: () => Places): void {
  test('a database with the first schema keeps its rows', async () => {
    await using place = await firstTables(places())
    await insertBuildEvents(
      place,
      { word: 'initiated' },
      { word: 'error' },
      { word: 'initiated', build: '513', cardNumber: null },
    )
    await place.sql(`insert into project (uuid, name, legacy_id, rules, read_at)
      values ('${WEB_UUID}', 'acme/web', '41', '[]', ${T0})`)
    await place.sql(`insert into card (subject, channel, quiet, mention, attempts, plain)
      values ('${REVISION}/1', 'C0BUILDS01', 0, 0, 0, 0)`)
    await place.store.migrate()
    const { read } = place.store
    const buildEvents = await read.eventsOfBuilds(['41/512', '41/513'])
    expect(buildEvents.map(({ rawStatus, cardNumber, origin }) => [rawStatus, cardNumber, origin])).toEqual([
      ['initiated', 1, 'delivery'],
      ['error', 1, 'delivery'],
      ['initiated', null, 'delivery'],
    ])
    expect(await read.eventsOfCard(REVISION, 1)).toHaveLength(2)
    expect(await read.listedAs(['acme/web'], 9)).toHaveLength(1)
    expect(await read.newestBuilds({ only: ['41'] }, 9)).toMatchObject([{ buildId: '512' }])
    expect(await read.listedProjects({ text: null, type: null, readSince: 0 }, { limit: 9, offset: 0 })).toEqual([
      {
        uuid: WEB_UUID,
        name: 'acme/web',
        legacyId: '41',
        type: null,
        rules: [],
        readAt: T0,
        buildsReadAt: null,
      },
    ])
    expect(await read.cardsOf(`${REVISION}/1`)).toHaveLength(1)
    expect(await read.requestsOf(REVISION)).toEqual([])
  })

  test('a build event that waited to be ingested is due, with or without its old mark', async () => {
    await using place = await firstTables(places())
    await insertBuildEvents(place, { word: 'initiated', cardNumber: null })
    await place.sql(`insert into intake (lineage_key, due_at, priority, stamp) values ('${REVISION}', ${T0}, 2, 7)`)
    await place.store.migrate()
    const { read, write } = place.store
    expect(await dueKeys(read, T0, 10)).toEqual([REVISION])
    await write((tx) => tx.settleRevision(REVISION, 7))
    expect(await read.dueIngest(T0, 10)).toEqual([{ revisionKey: REVISION, buildKeys: ['41/512'] }])
  })

  test('new urgent events come before those from before the upgrade', async () => {
    await using place = await firstTables(places())
    await insertBuildEvents(place, { word: 'initiated', cardNumber: null })
    await place.store.migrate()
    await hear(place.store, { revisionKey: 'failed', priority: 0 })
    expect(await dueKeys(place.store.read, T0, 10)).toEqual(['failed', REVISION])
  })

  test('each build has the status of its events', async () => {
    const cases: Record<string, { words: (OldBuildEvent | string)[]; status: string }> = {
      'a running build': { words: ['initiated'], status: 'started' },
      'a running build with the synonym': { words: ['waiting', 'Testing'], status: 'started' },
      'a waiting build': { words: ['initiated', 'waiting'], status: 'waiting' },
      'a build that passed': { words: ['initiated', 'success'], status: 'success' },
      'a build that failed': { words: ['initiated', 'error'], status: 'failed' },
      'a build that failed, with the synonym': { words: ['failed'], status: 'failed' },
      'a stopped build': { words: ['initiated', 'stopped'], status: 'stopped' },
      'a machine error': { words: ['infrastructure_failure'], status: 'infrastructure_failure' },
      'an ignored build': { words: ['ignored'], status: 'ignored' },
      'a blocked build': { words: ['blocked'], status: 'blocked' },
      'an unknown word': { words: ['hibernating'], status: 'unknown' },
      'a build whose start came late': { words: ['success', 'initiated'], status: 'success' },
      'a build with a late event': { words: ['initiated', 'error', 'waiting'], status: 'failed' },
      'a build that was restarted': { words: ['initiated', 'error', 'initiated'], status: 'started' },
      'a build that started long after its end': {
        words: ['error', { word: 'initiated', after: LATE_START_MS + 1 }],
        status: 'started',
      },
    }
    await using place = await firstTables(places())
    const builds = Object.entries(cases).map(([claim, { words, status }], n) => ({
      claim,
      words,
      status,
      build: `${512 + n}`,
    }))
    for (const { words, build } of builds)
      await insertBuildEvents(
        place,
        ...words.map((each) => ({ ...(typeof each === 'string' ? { word: each } : each), build })),
      )
    await place.store.migrate()
    const stored = await Promise.all(
      builds.map(async ({ claim, build }) => ({ claim, ...(await place.store.read.build('41', build))! })),
    )
    expect(stored.map(({ claim, status }) => [claim, status])).toEqual(
      builds.map(({ claim, status }) => [claim, status]),
    )
    for (const build of stored) expect(build).toMatchObject({ attempt: 1, cardNumber: 1, revisionKey: REVISION })
    const running = builds.filter(({ status }) => status === 'started').map(({ build }) => build)
    const listed = await place.store.read.runningBuilds(null, 99)
    expect(listed.map(({ buildId }) => buildId).sort()).toEqual(running)
  })

  test('each build is stored once, with number, branch and project, except one that is not ingested', async () => {
    await using place = await firstTables(places())
    await insertBuildEvents(
      place,
      { word: 'initiated' },
      { word: 'error' },
      { word: 'success', build: '1000' },
      { word: 'success', build: '999' },
      { word: 'success', project: '42', details: { projectName: 'api', projectFullName: 'acme/api' } },
      { word: 'initiated', build: '1001', cardNumber: null },
    )
    await place.store.migrate()
    const { read } = place.store
    expect(await read.newestBuild('41', 'main')).toMatchObject({ buildId: '1000' })
    expect(await read.newestBuild('41')).toMatchObject({ buildId: '1000' })
    expect(await read.branchesOf('41', 10)).toEqual(['main'])
    expect(await read.build('41', '1001')).toBeNull()
    expect((await read.buildsByNumber('512', 10)).map((build) => build.projectId).sort()).toEqual(['41', '42'])
  })

  test('projects have the names of their last deliveries', async () => {
    await using place = await firstTables(places())
    const details = { projectName: 'web', projectFullName: 'acme/web', projectUuid: WEB_UUID }
    await insertBuildEvents(
      place,
      { word: 'initiated', details: { projectName: 'old name' } },
      { word: 'error', after: MINUTE, details: { ...details, message: 'a \u0000 in it' } },
      { word: 'success', project: '42', after: HOUR },
    )
    await place.store.migrate()
    expect(await place.store.read.deliveredProjects({ except: [] }, 'asc', 9)).toEqual([
      { projectId: '41', name: 'web', fullName: 'acme/web', projectUuid: WEB_UUID, at: T0 + MINUTE },
      { projectId: '42', name: 'project 42', fullName: null, projectUuid: null, at: T0 + HOUR },
    ])
  })

  test('red builds that are the newest of their branch have their committers', async () => {
    await using place = await firstTables(places())
    const by = (committer: string | null) => ({ committer, message: 'a \u0000 in it' })
    await insertBuildEvents(
      place,
      { word: 'initiated', build: '511', details: by('Grace') },
      { word: 'error', build: '511' },
      { word: 'initiated', details: by(' Ada ') },
      { word: 'error', details: by(null) },
      { word: 'error', project: '42', details: by("o'hara") },
      { word: 'error', project: '43' },
    )
    await place.store.migrate()
    const { read } = place.store
    expect(await read.redBuildsOf(['ada'], 10)).toMatchObject([{ projectId: '41', buildId: '512', committer: 'ada' }])
    expect(await read.redBuildsOf(["o'hara"], 10)).toMatchObject([{ projectId: '42' }])
    expect(await read.redBuildsOf(['grace', ''], 10)).toEqual([])
  })

  test('people, closed channels and subscriptions are unchanged', async () => {
    await using place = await firstTables(places())
    await place.sql(`insert into person (handle, user_id, claimed_at) values ('ada', 'U0ADA00001', ${T0})`)
    await place.sql(`insert into channel values ('C0BUILDS01', 'is_archived', ${T0}, ${T0 + HOUR})`)
    for (const channel of ['C0BUILDS01', 'C0BUILDS01'])
      await place.sql(`insert into subscription (channel, follows, quiet, mention, created_by, created_at)
        values ('${channel}', '{"what":"all"}', 0, 'nobody', 'U0ADA00001', ${T0})`)
    await place.store.migrate()
    const { read } = place.store
    expect(await read.personOf('ada')).toBe('U0ADA00001')
    expect(await read.claimantsToCheck(T0, 10)).toEqual(['U0ADA00001'])
    expect(await read.closedChannels()).toMatchObject([{ code: 'is_archived', closedAt: T0, notifiedAt: null }])
    expect(await read.subscriptionsOf(channelId('C0BUILDS01'))).toHaveLength(2)
  })

  test("committers' names get their plain form; of two claims to one, the first one counts", async () => {
    await using place = await firstTables(places())
    for (const [n, [handle, user]] of [
      ['lin o’neil', 'U0LIN00001'],
      ["lin o'neil", 'U0GRACE001'],
      ['ada.', 'U0ADA00001'],
    ].entries())
      await place.sql(`insert into person (handle, user_id, claimed_at)
        values ('${handle!.replace("'", "''")}', '${user}', ${T0 + n})`)
    await place.store.migrate()
    const { read } = place.store
    for (const name of ['Lin O’Neil', "lin o'neil"]) expect(await read.personOf(name)).toBe('U0LIN00001')
    expect(await read.handlesOf('U0LIN00001')).toEqual([{ handle: "lin o'neil", at: T0 }])
    expect(await read.handlesOf('U0GRACE001')).toEqual([])
    expect(await read.personOf('Ada')).toBe('U0ADA00001')
  })

  test('many builds are upgraded at once', async () => {
    await using place = await firstTables(places())
    await insertBuildEvents(
      place,
      ...several(500, (i) => ({ word: i % 2 ? 'error' : 'initiated', build: String(i + 1) })),
    )
    await place.store.migrate()
    expect(await place.store.read.runningBuilds(null, 1_000)).toHaveLength(250)
  })
}

/** A database after the first migration only. */
async function firstTables(places: Places): Promise<Place> {
  const place = await places.openEmpty()
  for (const statement of await statementsOf(place.kind)) await place.sql(statement)
  await place.sql(
    'create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)',
  )
  await place.sql("insert into kysely_migration values ('0001-first', '2026-01-01T00:00:00.000Z')")
  return place
}

async function statementsOf(kind: Place['kind']): Promise<string[]> {
  const said: string[] = []
  const db = new Kysely<unknown>({ dialect: unconnected(kind), log: ({ query }) => void said.push(query.sql) })
  await migrationsOf({ name: kind })['0001-first']!.up(db)
  await db.destroy()
  return said
}

const unconnected = (kind: Place['kind']): Dialect => ({
  createDriver: () => new DummyDriver(),
  createAdapter: () => (kind === 'sqlite' ? new SqliteAdapter() : new PostgresAdapter()),
  createIntrospector: (db) => (kind === 'sqlite' ? new SqliteIntrospector(db) : new PostgresIntrospector(db)),
  createQueryCompiler: () => (kind === 'sqlite' ? new SqliteQueryCompiler() : new PostgresQueryCompiler()),
})

async function insertBuildEvents({ sql }: Place, ...buildEvents: readonly OldBuildEvent[]): Promise<void> {
  const rows = buildEvents.map(({ word, build = '512', project = '41', after, cardNumber = 1, details = {} }, i) => {
    const isVerdict = ['success', 'error', 'failed', 'infrastructure_failure'].includes(word)
    const text = JSON.stringify(details).replaceAll("'", "''")
    return `(${T0 + (after ?? i * SECOND)}, 'delivery', '${project}', '${build}', '${project}/${build}',
      '${build.padStart(20, '0')}', '${REVISION}', ${cardNumber}, '${branchKey(projectId(project), 'main')}', 'main', null, '${word}',
      ${isVerdict ? 1 : 0}, '${text}')`
  })
  await sql(`insert into fact (at, origin, project_id, build_id, build_key, build_order, lineage_key, episode, branch_key,
    branch, commit_id, word, verdict, details) values ${rows.join(', ')}`)
}
