import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { buildOf, delivery, send, settingsWith, startApp, testFolder, until } from '../support/app.ts'
import { queryOnce, startPostgres, type PostgresServer } from '../support/postgres.ts'
import { createRandom } from '../simulation/random.ts'
import { drawPoints, type Point } from './points.ts'
import { sweep, type Swept } from './sweep.ts'

// `npm run kill-sweep` is the large run. This is a short one, with different points on each of the two databases.
const POINTS = 16
const BUILDS = 40
const TIMES = 3
const SEED = 5
const SWEEP_MAX_MS = 600_000

const points = drawPoints(POINTS, createRandom(SEED), 2)
const half = (which: 0 | 1) => points.filter((_, n) => n % 2 === which)

let server: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => ('impossible' in server ? undefined : server[Symbol.asyncDispose]()))

describe('a process that is killed at many points', () => {
  it.concurrent(
    'loses nothing, duplicates nothing and ends up right on SQLite',
    async ({ signal }) => expectRight(await sweepAt(half(0), null, signal), half(0)),
    SWEEP_MAX_MS,
  )

  it.concurrent(
    'loses nothing, duplicates nothing and ends up right on PostgreSQL',
    async (test) => {
      if ('impossible' in server) return test.skip(server.impossible)
      expectRight(await sweepAt(half(1), await server.createDatabase(), test.signal), half(1))
    },
    SWEEP_MAX_MS,
  )
})

describe('a power loss after an acknowledgement', () => {
  it('loses nothing in PostgreSQL: a recorded delivery waits for the disk, and what can be repeated does not', async (test) => {
    if ('impossible' in server) return test.skip(server.impossible)
    const { database, url } = await startOn(server)
    await noteCommits(database, 'delivery', 'decision')
    for (let n = 1; n <= 3; n++) expect((await send(url, delivery(buildOf(n)))).status).toBe(202)
    const noted = () => queryOnce(database, 'select distinct about, waits from noted order by about desc')
    await until('a decision is recorded', async () => (await noted()).length === 2)
    expect(await noted()).toEqual([
      { about: 'delivery', waits: 'on' },
      { about: 'decision', waits: 'off' },
    ])
  })
})

const sweepAt = (killedAt: readonly Point[], databaseUrl: string | null, signal: AbortSignal): Promise<Swept> =>
  sweep({
    databaseUrl,
    points: killedAt,
    builds: BUILDS,
    times: TIMES,
    random: createRandom(SEED),
    signal,
    tell: () => {},
  })

function expectRight({ lost, doubled, wrong, kills, deliveries }: Swept, killedAt: readonly Point[]): void {
  expect({ lost, doubled, wrong }).toEqual({ lost: [], doubled: [], wrong: [] })
  expect(sum([...kills.values()])).toBeGreaterThanOrEqual(killedAt.length)
  expect(deliveries).toBeGreaterThanOrEqual(2 * BUILDS)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

async function startOn(postgres: PostgresServer): Promise<{ database: string; url: string }> {
  const database = await postgres.createDatabase()
  const settings = settingsWith(testFolder(), { DEFAULT_CHANNEL: 'C0BUILDS01', DATABASE_URL: database })
  const app = await startApp(settings)
  onTestFinished(() => app.stop())
  await until('the tables are there', async () => {
    const tables = await queryOnce(database, "select 1 from pg_tables where tablename in ('delivery', 'decision')")
    return tables.length === 2
  })
  return { database, url: app.url }
}

/** Records for each later transaction that writes to these tables whether its commit waits for the disk. */
async function noteCommits(database: string, ...tables: readonly string[]): Promise<void> {
  await queryOnce(database, 'create table noted (about text, waits text)')
  await queryOnce(
    database,
    `create function note() returns trigger language plpgsql as
     $$ begin insert into noted values (tg_table_name, current_setting('synchronous_commit')); return null; end $$`,
  )
  for (const table of tables)
    await queryOnce(database, `create trigger note after insert on ${table} execute function note()`)
}
