import { parseArgs } from 'node:util'
import { agrees } from '../../packages/demo/src/demo/agreement.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { createRandom } from '../simulation/random.ts'
import { drawPoints } from './points.ts'
import { sweep, type Swept } from './sweep.ts'

// npm run kill-sweep [-- --points 200 --database sqlite|postgres|both --seed 1 --builds 500 --speed 5 --kind 'the click']
const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '200' },
    database: { type: 'string', default: 'both' },
    seed: { type: 'string', default: '1' },
    builds: { type: 'string', default: '500' },
    speed: { type: 'string', default: '5' },
    kind: { type: 'string', default: '' },
  },
})

const DATABASES = ['sqlite', 'postgres'] as const
const chosen = DATABASES.filter((name) => values.database === 'both' || values.database === name)
if (chosen.length === 0) throw new Error('--database is sqlite, postgres or both')
const [points, seed, builds, times] = [values.points, values.seed, values.builds, values.speed].map((text) => {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1) throw new Error(`${text} is no whole number above 0`)
  return number
}) as [number, number, number, number]

/** Progress is printed after so many points. */
const TELL_EVERY = 10

// An interrupted sweep leaves no bot behind.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

// It is killed as it ships.
await import('../../bundle.ts')
let isRight = true
for (const database of chosen) isRight = report(await sweepOn(database)) && isRight
process.exit(isRight ? 0 : 1)

async function sweepOn(database: (typeof DATABASES)[number]): Promise<Swept> {
  console.log(
    `\n${database}: a burst of ${builds} builds, a SIGKILL at ${points} points, seed ${seed}, time ${times} times as fast`,
  )
  const beganAt = performance.now()
  const seconds = () => Math.round((performance.now() - beganAt) / 1_000)
  const random = createRandom(seed)
  let told = 0
  const tell = (line: string) => {
    if (++told % TELL_EVERY === 0) console.log(`  ${String(seconds()).padStart(4)} s  ${line}`)
  }
  await using server = database === 'postgres' ? await openServer() : null
  const databaseUrl = (await server?.createDatabase()) ?? null
  const swept = await sweep({
    databaseUrl,
    points: drawPoints(points, random, undefined, values.kind),
    builds,
    times,
    random,
    tell,
  })
  console.log(`  ${seconds()} s in all`)
  return swept
}

async function openServer(): Promise<PostgresServer> {
  const started = await startPostgres()
  if ('impossible' in started) throw new Error(started.impossible)
  return started
}

function report({ kills, builds: built, deliveries, repeated, clicks, folder, lost, doubled, wrong }: Swept): boolean {
  const counts = [...kills].sort(([a], [b]) => a.localeCompare(b))
  console.log(`  kills, ${counts.reduce((sum, [, count]) => sum + count, 0)} in all:`)
  for (const [kind, count] of counts) console.log(`  ${String(count).padStart(6)}  ${kind}`)
  console.log(
    `  ${built} builds, ${deliveries} deliveries, ${repeated} starts repeated after the end, ${clicks} presses of a button`,
  )
  for (const sentence of [...lost, ...doubled, ...wrong]) console.log(`  ! ${sentence}`)
  if (folder !== null) console.log(`  its log is in ${folder}`)
  console.log(`lost ${lost.length} · doubled ${doubled.length} · wrong ${wrong.length}`)
  return agrees({ lost, doubled, wrong })
}
