import { describe, expect, it } from 'vitest'
import { flakyTestsOf, type ReportedAttempt } from '../../src/domain/flaky-tests.ts'
import { idOrder, type ProjectId } from '../../src/domain/ids.ts'
import type { TestReport } from '../../src/domain/test-report.ts'

const report = (failed: readonly string[], change: Partial<TestReport> = {}): TestReport => ({
  shard: null,
  tests: 9,
  failed: failed.length,
  skipped: 0,
  flaky: 0,
  durationMs: null,
  failures: failed.map((name) => ({ name, message: null })),
  flakyTests: [],
  log: [],
  ...change,
})

const attempt = (build: number, n: number, commit: string, ...reports: TestReport[]): ReportedAttempt => ({
  projectId: '41' as ProjectId,
  revisionKey: commit,
  buildOrder: idOrder(String(build)),
  n,
  reports,
})

/** `sums 2`: a test, and on how many commits it was flaky. */
const said = (...attempts: ReportedAttempt[]): string[] =>
  flakyTestsOf(attempts.toReversed()).map(({ name, commits }) => `${name} ${commits}`)

describe('a flaky test', () => {
  it.each<[claim: string, attempts: ReportedAttempt[], tests: string[]]>([
    [
      'failed in one attempt and passed in a later one',
      [attempt(1, 1, 'a', report(['sums', 'adds'])), attempt(1, 2, 'a', report(['adds']))],
      ['sums 1'],
    ],
    [
      'may have passed in a later build of its commit',
      [attempt(9, 1, 'a', report(['sums'])), attempt(10, 1, 'a', report([]))],
      ['sums 1'],
    ],
    ['is not one that passed first', [attempt(1, 1, 'a', report([])), attempt(1, 2, 'a', report(['sums']))], []],
    ['is not one of another commit', [attempt(1, 1, 'a', report(['sums'])), attempt(2, 1, 'b', report([]))], []],
    [
      'is not known if the later report is cut',
      [attempt(1, 1, 'a', report(['sums'])), attempt(1, 2, 'a', report(['adds'], { failed: 201 }))],
      [],
    ],
    [
      'is not known if no test ran later',
      [attempt(1, 1, 'a', report(['sums'])), attempt(1, 2, 'a', report([], { tests: 0 }))],
      [],
    ],
    [
      'is not known if its shard did not run again',
      [
        attempt(1, 1, 'a', report(['sums'], { shard: '1/2' }), report(['adds'], { shard: '2/2' })),
        attempt(1, 2, 'a', report([], { shard: '2/2' })),
      ],
      ['adds 1'],
    ],
    [
      'is not one that fails in another shard later',
      [
        attempt(1, 1, 'a', report(['sums'], { shard: '1/2' })),
        attempt(1, 2, 'a', report([], { shard: '1/2' }), report(['sums'], { shard: '2/2' })),
      ],
      [],
    ],
    ['is one that the test runner calls flaky', [attempt(1, 1, 'a', report([], { flakyTests: ['sums'] }))], ['sums 1']],
    [
      'is counted once for each commit; the flakiest comes first',
      [
        attempt(1, 1, 'a', report(['adds', 'sums'], { flakyTests: ['sums'] })),
        attempt(1, 2, 'a', report(['adds'])),
        attempt(1, 3, 'a', report([])),
        attempt(2, 1, 'b', report([], { flakyTests: ['sums'] })),
      ],
      ['sums 2', 'adds 1'],
    ],
  ])('%s', (_, attempts, tests) => {
    expect(said(...attempts)).toEqual(tests)
  })
})
