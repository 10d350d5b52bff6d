import { compareOrders, type ProjectId } from './ids.ts'
import { shardsOf, type TestReport } from './test-report.ts'

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

// False if nobody can know: the shard did not run again, or the reports do not name all failed tests.
const passed = (shards: readonly TestReport[], of: string | null, test: string): boolean =>
  shards.some(({ shard, tests }) => shard === of && tests > 0) &&
  shards.every(({ failed, failures }) => failures.length === failed && failures.every(({ name }) => name !== test))
