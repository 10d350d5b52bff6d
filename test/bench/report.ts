import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Benchmark, Row } from './benchmark.ts'

type Result = { benchmark: Benchmark; rows: readonly Row[] }

const PAGE = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url))

const SCALE_PAGE = fileURLToPath(new URL('../../docs/scale.md', import.meta.url))

/** The prose above it is written by hand. */
const MARK = '<!-- figures: npm run bench writes all below -->'

const HEAD = ['what', 'value', 'goal', 'met']

const cells = ({ what, value, goal, met }: Row): string[] => [what, value, goal ?? '', verdict(met)]

const verdict = (met: boolean | null): string => (met === null ? '' : met ? 'yes' : 'no: MISSED')

export function printTable(results: readonly Result[]): void {
  const lines = [HEAD, ...results.flatMap(({ rows }) => rows).map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
  const goals = results.flatMap(({ rows }) => rows).filter(({ met }) => met !== null)
  const missed = goals.filter(({ met }) => met === false)
  console.log(
    missed.length === 0 ? `All ${goals.length} goals are met.` : `MISSED: ${missed.length} of ${goals.length} goals.`,
  )
}

/** Writes the figures of all but scale, with how long the whole run took. */
export const writePage = (results: readonly Result[], tookMs: number): void =>
  writeFigures(PAGE, results, `; all benchmarks took ${Math.round(tookMs / 60_000)} minutes`)

export function writeScale(results: readonly Result[]): void {
  const memoryGB = Math.round(totalmem() / 1_024 ** 3)
  writeFigures(
    SCALE_PAGE,
    results,
    `; ${memoryGB} GB of memory; load average at the end ${loadavg()[0]!.toFixed(1)} (a quiet machine has less than 3)`,
  )
}

/** Writes the figures below the mark, with what of the machine matters and nothing that names it. */
function writeFigures(page: string, results: readonly Result[], more: string): void {
  const [prose, old] = readFileSync(page, 'utf8').split(MARK)
  if (old === undefined) throw new Error(`${page} has no mark for the figures`)
  const run = `Measured on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}${more}.`
  writeFileSync(page, [prose + MARK, '', run, ...results.flatMap(sectionOf), ''].join('\n'))
}

const sectionOf = ({ benchmark: { name, about }, rows }: Result): string[] => [
  '',
  `## ${name}`,
  about,
  '',
  ...(crossTable(rows) ?? table([HEAD, ...rows.map(cells)])),
]

const table = ([head, ...lines]: readonly (readonly string[])[]): string[] =>
  [head!, head!.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`)

/**
 * Rows that are the same measure of different things (`2 processes: ingested/s`) as one table of both, with a list of
 * the others below. Null: no two are.
 */
function crossTable(rows: readonly Row[]): string[] | null {
  const parts = rows.map(partsOf)
  const isShared = ({ measure }: Parts) => parts.filter((other) => other.measure === measure).length > 1
  const shared = parts.filter(isShared)
  if (shared.length === 0) return null
  const things = [...new Set(shared.map(({ thing }) => thing))]
  const measures = [...new Set(shared.map(({ measure }) => measure))]
  const named = (measure: string) => withGoal(measure, shared.find((one) => one.measure === measure && one.goal)?.goal)
  const cell = (thing: string, measure: string) =>
    shared.find((one) => one.thing === thing && one.measure === measure)?.shown ?? ''
  const lines =
    things.length > measures.length
      ? [['', ...measures.map(named)], ...things.map((thing) => [thing, ...measures.map((one) => cell(thing, one))])]
      : [['', ...things], ...measures.map((one) => [named(one), ...things.map((thing) => cell(thing, one))])]
  const others = parts.filter((one) => !isShared(one))
  return [...table(lines), ...(others.length > 0 ? [''] : []), ...others.map(listed)]
}

type Parts = ReturnType<typeof partsOf>

function partsOf({ what, value, goal, met }: Row) {
  const [, thing = what, measure = what] = /^(.*?): (.*)$/.exec(what) ?? []
  return { what, thing, measure, goal, shown: met === false ? `${value} MISSED` : value }
}

const withGoal = (text: string, goal: string | null | undefined): string => (goal ? `${text} (${goal})` : text)

const listed = ({ what, goal, shown }: Parts): string => `- ${withGoal(what, goal)}: ${shown}`
