// What failed in an attempt of a build: the tests, jobs and messages that build steps and sources report. Pure.

/**
 * One thing that failed. All texts are from outside: they are masked before they are stored, and escaped where they are
 * shown.
 */
export interface Failure {
  job: string | null
  step: string | null
  test: string | null
  /** a file's path in the repository */
  path: string | null
  /** from 1 */
  line: number | null
  /** the address (http or https) of that line in the build's commit; null: unknown */
  url: string | null
  /** one to three lines */
  message: string | null
}

export const NO_FAILURE: Failure = {
  job: null,
  step: null,
  test: null,
  path: null,
  line: null,
  url: null,
  message: null,
}

/** What one build step, one shard of its tests, or one failed job says of what failed. */
export interface FailureReport {
  /** who says so: a step of the build, or its source when it was asked */
  by: 'step' | 'source'
  /** the source's number of the attempt; null: unknown, so the report is about the attempt that runs when it arrives */
  attempt: number | null
  /** which shard, such as `2/4`, or which job; null: the report has all of the build */
  part: string | null
  /** how many tests ran; null: the report does not count tests */
  tests: number | null
  /** how many failed; `failures` may hold fewer */
  failed: number
  failures: readonly Failure[]
  flakyTests: readonly string[]
  /** the lines of the log that matter; without time stamps, colours and secrets */
  log: readonly string[]
}

/** What failed in one attempt, as it is shown. */
export interface Failures {
  /** how many tests ran; null: not known */
  tests: number | null
  /** how many failed; `named` are the first of them */
  failed: number
  named: readonly (Failure & { isNew: boolean })[]
  /** the same failed in the build before */
  isSame: boolean
  log: readonly string[]
}

/**
 * How much of it a channel is shown, the least first: nothing; jobs, tests and places, without messages and logs; all.
 */
export const DETAILS = ['none', 'names', 'lines'] as const
export type Details = (typeof DETAILS)[number]

export const withoutLines = (failures: Failures): Failures => ({
  ...failures,
  named: failures.named.map((one) => ({ ...one, message: null })),
  log: [],
})

export interface BuildBefore {
  reports: readonly FailureReport[]
  isRed: boolean
}

/** The most failures that a reply names. */
const NAMED_MAX = 10

/** The most failures that a card, or a line of an answer, names. */
const ON_CARD_MAX = 3

/**
 * The sum of an attempt's reports, in any order of the parts; null if nothing failed. If build steps report failed tests,
 * what the source says of its jobs is left out: it would be the same failures again. A failure is new if the build before
 * named all of its failures, and this one was not among them.
 * @param reports in order of receipt: of two reports of one part, the later one counts
 */
export function failuresIn(reports: readonly FailureReport[], before: BuildBefore | null): Failures | null {
  const { isWhole, failures, ...own } = merge(reports)
  if (own.failed === 0) return null
  const names = namesIn(before, own.tests === null)
  const said = failures.map((failure) => ({ ...failure, isNew: names !== null && !names.has(nameOf(failure)) }))
  const isSame =
    before?.isRed === true && isWhole && names?.size === failures.length && said.every(({ isNew }) => !isNew)
  const newFirst = said.toSorted((a, b) => Number(b.isNew) - Number(a.isNew))
  return { ...own, named: newFirst.slice(0, NAMED_MAX), isSame }
}

/**
 * The failures of the build before; null if they are not all known.
 * @param ofJobs what failed are jobs, and no job fails in a build that passed
 */
function namesIn(before: BuildBefore | null, ofJobs: boolean): ReadonlySet<string> | null {
  if (before && ofJobs && !before.isRed) return new Set()
  const known = before && before.reports.length > 0 ? merge(before.reports) : null
  return known?.isWhole ? new Set(known.failures.map(nameOf)) : null
}

/** Only the part that a card shows, so that no other change edits the card. */
export const briefly = (failures: Failures): Failures => ({
  ...failures,
  named: failures.named.slice(0, ON_CARD_MAX).map((one) => (one.test === null ? one : { ...one, message: null })),
  log: [],
})

/** `isWhole`: `failures` holds all that failed. */
function merge(reports: readonly FailureReport[]) {
  const all = partsOf(reports)
  const ofSteps = all.filter(({ by }) => by === 'step')
  const parts = ofSteps.some(({ failed }) => failed > 0) ? ofSteps : all.filter(({ by }) => by === 'source')
  const failures = parts.flatMap((report) => report.failures)
  const sum = (count: (report: FailureReport) => number) => parts.reduce((total, report) => total + count(report), 0)
  return {
    tests: parts.some(({ tests }) => tests !== null) ? sum(({ tests, failed }) => Math.max(tests ?? 0, failed)) : null,
    failed: sum(({ failed }) => failed),
    // A test that fails in two shards, such as on two machines, is one test.
    failures: byName(failures, nameOf),
    isWhole: parts.every((report) => report.failures.length === report.failed),
    log: parts.find(({ failed, log }) => failed > 0 && log.length > 0)?.log ?? [],
  }
}

/** The reports that count, one for each part, by its name. */
export const partsOf = (reports: readonly FailureReport[]): FailureReport[] =>
  byName(reports, ({ by, part }) => `${by} ${part ?? ''}`)

/** What makes it the same failure in another build: lines move, so they do not count. */
const nameOf = ({ job, step, test, path, message }: Failure): string =>
  test ?? [job, step, path, message].map((part) => part ?? '').join(' ')

/** One of each name, in the order of the names; of several the last one. */
function byName<One>(all: readonly One[], name: (one: One) => string): One[] {
  const named = new Map(all.map((one) => [name(one), one]))
  return [...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}
