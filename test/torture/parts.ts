import { fileURLToPath } from 'node:url'

/** The result of one part. */
export interface Verdict {
  ok: boolean
  /** the counts; empty if the part ended before it printed any */
  counts: Readonly<Record<string, number>>
}

/** One part of the torture test: a separate program whose last output is its verdict. */
export interface Part {
  name: string
  args: readonly string[]
  /** if `REPORT` names a file, claims are written there, and read in the same way as the output */
  env: Readonly<Record<string, string>>
  read: (printed: string) => Verdict['counts'] | null
  /** whether the counts are as promised */
  isRight: (counts: Verdict['counts']) => boolean
}

const NODE_MODULES = new URL('../../node_modules/', import.meta.url)
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const VITEST = fileURLToPath(new URL('vitest/vitest.mjs', NODE_MODULES))

/** All parts; the kill sweep has this number of points on each database. */
export const partsOf = (points: number): readonly Part[] => [
  killSweep('sqlite', points),
  killSweep('postgres', points),
  claims('processes', { PAUSE_S: process.env['PAUSE_S'] ?? '60' }),
  claims('outages', { OUTAGES: 'all', BUILDS: '1000' }),
  { name: 'strangers', args: [path('../bench/run.ts'), 'strangers'], env: {}, read: readGoals, isRight: isNoneMissed },
]

const killSweep = (database: string, points: number): Part => ({
  name: `kill-sweep-${database}`,
  args: [path('../kill-sweep/run.ts'), '--database', database, '--points', String(points)],
  env: {},
  read: readSweep,
  isRight: ({ lost, doubled, wrong }) => lost === 0 && doubled === 0 && wrong === 0,
})

const claims = (name: string, env: Part['env']): Part => ({
  name,
  args: [VITEST, 'run', `test/${name}`],
  env,
  read: readClaims,
  isRight: ({ passed, failed, skipped }) => passed! > 0 && failed === 0 && skipped === 0,
})

const SWEEP = /^lost (\d+) · doubled (\d+) · wrong (\d+)$/m

export function readSweep(printed: string): Verdict['counts'] | null {
  const [, lost, doubled, wrong] = SWEEP.exec(printed) ?? []
  return lost === undefined ? null : { lost: Number(lost), doubled: Number(doubled), wrong: Number(wrong) }
}

/** Reads the summary of vitest about its claims; the claims may have printed something before it. */
export function readClaims(printed: string): Verdict['counts'] | null {
  const line = printed.split('\n').findLast((one) => one.startsWith('{"numTotalTestSuites"'))
  if (line === undefined) return null
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(line) as Record<string, number>
  return { passed: numPassedTests!, failed: numFailedTests!, skipped: numPendingTests! }
}

export function readGoals(printed: string): Verdict['counts'] | null {
  const all = /^All (\d+) goals are met\.$/m.exec(printed)?.[1]
  if (all !== undefined) return { goals: Number(all), missed: 0 }
  const [, missed, goals] = /^MISSED: (\d+) of (\d+) goals\.$/m.exec(printed) ?? []
  return goals === undefined ? null : { goals: Number(goals), missed: Number(missed) }
}

const isNoneMissed = ({ missed }: Verdict['counts']): boolean => missed === 0

/** The verdict of a part; if it broke off or its program failed, it is wrong whatever the counts are. */
export function verdictOf(
  { read, isRight }: Pick<Part, 'read' | 'isRight'>,
  code: number | null,
  printed: string,
): Verdict {
  const counts = read(printed)
  return { ok: code === 0 && counts !== null && isRight(counts), counts: counts ?? {} }
}
