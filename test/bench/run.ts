import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { giveUp } from '../../packages/lib/program.ts'
import { acknowledged } from './acknowledged.ts'
import type { Benchmark, Row, Stage } from './benchmark.ts'
import { burst } from './burst.ts'
import { click } from './click.ts'
import { day, ORGANIZATIONS_PLAYED } from './day.ts'
import { door } from './door.ts'
import { fillDatabase } from './filled-database.ts'
import { latency } from './latency.ts'
import { live } from './live.ts'
import { memory } from './memory.ts'
import { people } from './people.ts'
import { polling } from './polling.ts'
import { processesShared } from './processes-shared.ts'
import { pinSelf } from './processes.ts'
import { ingest } from './ingest.ts'
import { growth } from './growth.ts'
import { idle } from './idle.ts'
import { reconcile } from './reconcile.ts'
import { reports } from './reports.ts'
import { printTable, writeSections } from './report.ts'
import { start } from './start.ts'
import { stored } from './stored.ts'
import { strangers } from './strangers.ts'
import { workspace } from './workspace.ts'

// npm run bench [-- <name>…] [--write] [--organizations 1000] [--profile <folder>]
/** The benchmarks whose figures are in docs/scale.md; those of the others are in docs/benchmarks.md. */
const SCALE: readonly Benchmark[] = [processesShared, stored, day, workspace]
const OTHERS: readonly Benchmark[] = [
  acknowledged,
  door,
  latency,
  reports,
  live,
  burst,
  click,
  people,
  polling,
  memory,
  idle,
  start,
  reconcile,
  ingest,
  growth,
  strangers,
]
const BENCHMARKS = [...OTHERS, ...SCALE]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    organizations: { type: 'string', default: String(ORGANIZATIONS_PLAYED) },
    profile: { type: 'string' },
  },
})
const chosen = BENCHMARKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const names = BENCHMARKS.map(({ name }) => name)
if (positionals.some((name) => !names.includes(name))) giveUp(`the benchmarks are ${names.join(', ')}`)
const organizations = Number(values.organizations)
if (!Number.isInteger(organizations) || organizations < 1) giveUp('--organizations is a number from 1')

// Measured as it ships.
await import('../../bundle.ts')
pinSelf()
const startedAt = performance.now()
const stage = openStage(values.profile)
try {
  const results: { benchmark: Benchmark; rows: Row[] }[] = []
  for (const benchmark of chosen) {
    stage.say(`${benchmark.name}: ${benchmark.about}`)
    results.push({ benchmark, rows: await benchmark.run(stage) })
  }
  const tookMs = performance.now() - startedAt
  printTable(results)
  stage.say(`It took ${Math.round(tookMs / 1_000)} s.`)
  if (values.write)
    for (const [page, all] of Object.entries({ benchmarks: OTHERS, scale: SCALE }) as [
      'benchmarks' | 'scale',
      readonly Benchmark[],
    ][])
      writeSections(
        page,
        results.filter(({ benchmark }) => all.includes(benchmark)),
        all.map(({ name }) => name),
      )
} finally {
  rmSync(stage.folder, { recursive: true, force: true })
}
// A sandbox or two may still hold a connection open.
process.exit(0)

function openStage(profile: string | undefined): Stage {
  const folder = mkdtempSync(join(tmpdir(), 'buildline-bench-'))
  const profiles = profile === undefined ? null : resolve(profile)
  if (profiles) mkdirSync(profiles, { recursive: true })
  const say = (text: string) => void process.stderr.write(`${text}\n`)
  const known = new Map<number, string>()
  const filled = async (builds: number): Promise<string> => {
    const path = known.get(builds) ?? join(folder, `builds-${builds}.db`)
    if (!known.has(builds)) {
      say(`  filling a database with ${builds.toLocaleString('en-US')} builds`)
      await fillDatabase(path, builds)
      known.set(builds, path)
    }
    return path
  }
  return { folder, profiles, say, filled, organizations }
}
