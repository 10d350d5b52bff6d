import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Benchmark, Row } from './benchmark.ts'

type Result = { benchmark: Benchmark; rows: readonly Row[] }

const PAGE = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url))

/** Its prose is written by hand; what stands between the marks is not. */
const SCALE_PAGE = fileURLToPath(new URL('../../docs/scale.md', import.meta.url))
const SCALE_MARK = '<!-- figures: npm run bench writes all below -->'

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

/** Writes the whole run down, with what of the machine matters and nothing that names it. */
export function writePage(results: readonly Result[], tookMs: number): void {
  const page = [
    '# Benchmarks',
    '',
    'Each figure is a ratio or a count within one run: the bot beside a baseline on the same machine, turn by turn. The bot is the real process with its default settings and a SQLite file; Slack is the sandbox Slack; load comes over real HTTP from a process on another core.',
    '',
    `    npm run bench                # all of it, ${Math.round(tookMs / 60_000)} minutes; add -- --write to write this page`,
    '    npm run bench -- latency     # one of them; add --profile <folder> for CPU profiles of the servers',
    '',
    `This run: ${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}.`,
    ...results.flatMap(sectionOf),
    '',
  ]
  writeFileSync(PAGE, page.join('\n'))
}

/** Writes the figures of scale below the mark on their page; what stands above it stays. */
export function writeScale(results: readonly Result[]): void {
  const [prose, old] = readFileSync(SCALE_PAGE, 'utf8').split(SCALE_MARK)
  if (old === undefined) throw new Error(`${SCALE_PAGE} has no mark for the figures`)
  const memoryGB = Math.round(totalmem() / 1_024 ** 3)
  const run = `This run: ${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, ${memoryGB} GB of memory, ${process.platform} ${process.arch}, Node ${process.versions.node}; load average of the machine at its end ${loadavg()[0]!.toFixed(1)} (a quiet one has less than 3).`
  writeFileSync(
    SCALE_PAGE,
    [prose + SCALE_MARK, '', '## The figures', '', run, ...results.flatMap(sectionOf), ''].join('\n'),
  )
}

const sectionOf = ({ benchmark: { name, about }, rows }: Result): string[] => [
  '',
  `## ${name}`,
  about,
  '',
  ...[HEAD, HEAD.map(() => '---'), ...rows.map(cells)].map((line) => `| ${line.join(' | ')} |`),
]
