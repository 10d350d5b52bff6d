import { describe, expect, it } from 'vitest'
import { NO_FAILURE, type FailureReport } from '../../../src/domain/builds/failure.ts'
import { flakyTestsOf, type ReportedAttempt } from '../../../src/domain/builds/flaky-tests.ts'
import { idOrder, type ProjectId } from '../../../src/domain/ids.ts'

const ranWith = (failed: readonly string[], change: Partial<FailureReport> = {}): FailureReport => ({
  by: 'step',
  attempt: null,
  part: null,
  tests: 9,
  failed: failed.length,
  failures: failed.map((name) => ({ ...NO_FAILURE, test: name })),
  flakyTests: [],
  log: [],
  ...change,
})

const attempt = (build: number, n: number, commit: string, ...reports: FailureReport[]): ReportedAttempt => ({
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
      [attempt(1, 1, 'a', ranWith(['sums', 'adds'])), attempt(1, 2, 'a', ranWith(['adds']))],
      ['sums 1'],
    ],
    [
      'may have passed in a later build of its commit',
      [attempt(9, 1, 'a', ranWith(['sums'])), attempt(10, 1, 'a', ranWith([]))],
      ['sums 1'],
    ],
    ['is not one that passed first', [attempt(1, 1, 'a', ranWith([])), attempt(1, 2, 'a', ranWith(['sums']))], []],
    ['is not one of another commit', [attempt(1, 1, 'a', ranWith(['sums'])), attempt(2, 1, 'b', ranWith([]))], []],
    [
      'is not known if the later report is cut',
      [attempt(1, 1, 'a', ranWith(['sums'])), attempt(1, 2, 'a', ranWith(['adds'], { failed: 201 }))],
      [],
    ],
    [
      'is not known if no test ran later',
      [attempt(1, 1, 'a', ranWith(['sums'])), attempt(1, 2, 'a', ranWith([], { tests: 0 }))],
      [],
    ],
    [
      'is not known if its part did not run again',
      [
        attempt(1, 1, 'a', ranWith(['sums'], { part: '1/2' }), ranWith(['adds'], { part: '2/2' })),
        attempt(1, 2, 'a', ranWith([], { part: '2/2' })),
      ],
      ['adds 1'],
    ],
    [
      'is not one that fails in another part later',
      [
        attempt(1, 1, 'a', ranWith(['sums'], { part: '1/2' })),
        attempt(1, 2, 'a', ranWith([], { part: '1/2' }), ranWith(['sums'], { part: '2/2' })),
      ],
      [],
    ],
    [
      'is one that the test runner calls flaky',
      [attempt(1, 1, 'a', ranWith([], { flakyTests: ['sums'] }))],
      ['sums 1'],
    ],
    [
      'is counted once for each commit; the flakiest comes first',
      [
        attempt(1, 1, 'a', ranWith(['adds', 'sums'], { flakyTests: ['sums'] })),
        attempt(1, 2, 'a', ranWith(['adds'])),
        attempt(1, 3, 'a', ranWith([])),
        attempt(2, 1, 'b', ranWith([], { flakyTests: ['sums'] })),
      ],
      ['sums 2', 'adds 1'],
    ],
  ])('%s', (_, attempts, tests) => {
    expect(said(...attempts)).toEqual(tests)
  })
})
