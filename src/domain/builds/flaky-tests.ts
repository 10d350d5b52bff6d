import type { ProjectId } from '../ids.ts'
import { compareAttempts, type Attempt } from './attempt.ts'
import { partsOf, type FailureReport } from './failure.ts'

/** The test reports of one attempt of a commit. */
export interface ReportedAttempt extends Pick<Attempt, 'buildOrder' | 'n'> {
  projectId: ProjectId
  /** project, branch and commit */
  revisionKey: string
  /** in order of receipt */
  reports: readonly FailureReport[]
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
  const commits = [...Map.groupBy(attempts, ({ revisionKey }) => revisionKey).values()]
  const found = commits.flatMap((own) => [...namesIn(own)].map((name) => ({ projectId: own[0]!.projectId, name })))
  const tests = [...Map.groupBy(found, ({ projectId, name }) => `${projectId} ${name}`).values()]
  return tests
    .map((same) => ({ ...same[0]!, commits: same.length }))
    .sort((a, b) => b.commits - a.commits || (a.name < b.name ? -1 : 1))
}

/** @param attempts of one commit */
function namesIn(attempts: readonly ReportedAttempt[]): Set<string> {
  const ordered = attempts
    .toSorted(compareAttempts)
    .map(({ reports }) => partsOf(reports).filter(({ tests }) => tests !== null))
  const names = new Set(ordered.flat().flatMap(({ flakyTests }) => flakyTests))
  for (const [at, parts] of ordered.entries())
    for (const { part, failures } of parts)
      for (const { test } of failures)
        if (test !== null && ordered.slice(at + 1).some((later) => passed(later, part, test))) names.add(test)
  return names
}

// False if it is unknown: the shard did not run again, or the reports do not name all failed tests.
const passed = (parts: readonly FailureReport[], of: string | null, test: string): boolean =>
  parts.some(({ part, tests }) => part === of && (tests ?? 0) > 0) &&
  parts.every(({ failed, failures }) => failures.length === failed && failures.every((one) => one.test !== test))
