import { compareOrders, type ProjectId } from '../ids.ts'

// Finds a build's failed tests in the reports of its build steps. Pure.

/** One build step's report of its tests: all of the build's, or one shard. */
export interface TestReport {
  /** which shard, such as `2/4`; null: the report has all tests */
  shard: string | null
  tests: number
  /** how many failed; `failures` may hold fewer */
  failed: number
  skipped: number
  flaky: number
  durationMs: number | null
  failures: readonly { name: string; message: string | null }[]
  flakyTests: readonly string[]
  /** the last lines of the build step's log, if it sends them */
  log: readonly string[]
}

/** The failed tests of one attempt, as they are shown. */
export interface FailedTests {
  tests: number
  /** how many failed; `failures` holds the first of them */
  failed: number
  failures: readonly { name: string; message: string | null; isNew: boolean }[]
  /** the same tests failed in the build before */
  isSame: boolean
  log: readonly string[]
}

/** The branch's finished build before this one. */
export interface BuildBefore {
  reports: readonly TestReport[]
  isRed: boolean
}

/** The most failed tests that a reply names. */
const TESTS_NAMED_MAX = 10

/** The most failed tests that a card, or a line of an answer, names. */
const TESTS_ON_CARD_MAX = 3

/**
 * The sum of an attempt's reports, in any order of the shards; null if no test failed. A failed test is new if the
 * build before named all its failed tests, and this one was not among them.
 * @param reports in order of receipt: of two reports of one shard, the later one counts
 */
export function failedTestsIn(reports: readonly TestReport[], before: BuildBefore | null): FailedTests | null {
  const { isWhole, failures, ...own } = merge(reports)
  if (own.failed === 0) return null
  const known = before && before.reports.length > 0 ? merge(before.reports) : null
  const names = known?.isWhole ? new Set(known.failures.map(({ name }) => name)) : null
  const said = failures.map((failure) => ({ ...failure, isNew: names !== null && !names.has(failure.name) }))
  const isSame =
    before?.isRed === true && isWhole && names?.size === failures.length && said.every(({ isNew }) => !isNew)
  const newFirst = said.toSorted((a, b) => Number(b.isNew) - Number(a.isNew))
  return { ...own, failures: newFirst.slice(0, TESTS_NAMED_MAX), isSame }
}

/** Only the part that a card shows, so that no other change edits the card. */
export const briefly = (tests: FailedTests): FailedTests => ({
  ...tests,
  failures: tests.failures.slice(0, TESTS_ON_CARD_MAX).map((failure) => ({ ...failure, message: null })),
  log: [],
})

interface Merged extends Pick<TestReport, 'tests' | 'failed' | 'failures' | 'log'> {
  /** `failures` holds all that failed */
  isWhole: boolean
}

function merge(reports: readonly TestReport[]): Merged {
  const shards = shardsOf(reports)
  const failures = shards
    .flatMap((report) => report.failures)
    .sort((a, b) => compare(a.name, b.name) || compare(a.message ?? '', b.message ?? ''))
  const sum = (count: (report: TestReport) => number) => shards.reduce((total, report) => total + count(report), 0)
  return {
    tests: sum(({ tests, failed }) => Math.max(tests, failed)),
    failed: sum(({ failed }) => failed),
    // A test that fails in two shards, such as on two machines, is one test.
    failures: failures.filter(({ name }, i) => name !== failures[i - 1]?.name),
    isWhole: shards.every((report) => report.failures.length === report.failed),
    log: shards.find(({ failed, log }) => failed > 0 && log.length > 0)?.log ?? [],
  }
}

/** The reports that count, one for each shard, by its name. */
function shardsOf(reports: readonly TestReport[]): TestReport[] {
  const byShard = new Map(reports.map((report) => [report.shard ?? '', report]))
  return [...byShard].sort(([a], [b]) => compare(a, b)).map(([, report]) => report)
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** The test reports of one attempt of a commit; at least one. */
export interface ReportedAttempt {
  projectId: ProjectId
  /** project, branch and commit */
  revisionKey: string
  buildOrder: string
  /** the attempt of its build: 1 for the first */
  n: number
  /** in order of receipt */
  reports: readonly TestReport[]
}

/** A test that failed and passed on the same commit. `commits`: on how many commits. */
export interface FlakyTest {
  projectId: ProjectId
  name: string
  commits: number
}

/**
 * Tests that a test runner reported as flaky, and tests that failed in one attempt and passed in a later one of the
 * same commit. Those with the most commits first. Pure: the same reports always give the same tests.
 */
export function flakyTestsOf(attempts: readonly ReportedAttempt[]): FlakyTest[] {
  const found = new Map<string, FlakyTest>()
  for (const own of Map.groupBy(attempts, ({ revisionKey }) => revisionKey).values()) {
    const { projectId } = own[0]!
    for (const name of namesIn(own)) {
      const key = `${projectId} ${name}`
      found.set(key, { projectId, name, commits: (found.get(key)?.commits ?? 0) + 1 })
    }
  }
  return [...found.values()].sort((a, b) => b.commits - a.commits || (a.name < b.name ? -1 : 1))
}

/** @param attempts of one commit */
function namesIn(attempts: readonly ReportedAttempt[]): Set<string> {
  const ordered = attempts
    .toSorted((a, b) => compareOrders(a.buildOrder, b.buildOrder) || a.n - b.n)
    .map(({ reports }) => shardsOf(reports))
  const names = new Set(ordered.flat().flatMap(({ flakyTests }) => flakyTests))
  for (const [at, shards] of ordered.entries())
    for (const { shard, failures } of shards)
      for (const { name } of failures)
        if (ordered.slice(at + 1).some((later) => passed(later, shard, name))) names.add(name)
  return names
}

// False if it is unknown: the shard did not run again, or the reports do not name all failed tests.
const passed = (shards: readonly TestReport[], of: string | null, test: string): boolean =>
  shards.some(({ shard, tests }) => shard === of && tests > 0) &&
  shards.every(({ failed, failures }) => failures.length === failed && failures.every(({ name }) => name !== test))
