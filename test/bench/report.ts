import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Benchmark, Row } from './benchmark.ts'

type Result = { benchmark: Benchmark; rows: readonly Row[] }

const pageAt = (name: string): string => fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url))

const PAGES = { benchmarks: pageAt('benchmarks'), scale: pageAt('scale') }

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

/**
 * Writes the sections of these benchmarks into a page, in the place of their last ones, each with when and where it was
 * measured, and nothing that names the machine.
 * @param order the names of all benchmarks of the page
 */
export function writeSections(
  page: 'benchmarks' | 'scale',
  results: readonly Result[],
  order: readonly string[],
): void {
  const path = PAGES[page]
  const [prose, old] = readFileSync(path, 'utf8').split(MARK)
  if (old === undefined) throw new Error(`${path} has no mark for the figures`)
  const before = old
    .split(/^(?=## )/m)
    .map((section) => [/^## (\S+)/.exec(section)?.[1] ?? '', section.trim()] as const)
  const sections = new Map([...before, ...results.map((one) => [one.benchmark.name, sectionOf(one)] as const)])
  writeFileSync(
    path,
    [prose + MARK, ...order.flatMap((name) => sections.get(name) ?? []), ''].join('\n\n').trimEnd() + '\n',
  )
}

const sectionOf = ({ benchmark: { name, about }, rows }: Result): string =>
  [`## ${name}`, about, '', ...(crossTable(rows) ?? table([HEAD, ...rows.map(cells)])), '', measured()].join('\n')

function measured(): string {
  const memoryGB = Math.round(totalmem() / 1_024 ** 3)
  const machine = `${cpus().length} cores, ${memoryGB} GB of memory, ${process.platform} ${process.arch}, Node ${process.versions.node}`
  const load = loadavg()[0]!.toFixed(1)
  return `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}; load average at the end ${load} (a quiet machine has less than 3).`
}

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
