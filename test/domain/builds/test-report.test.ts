import * as fc from 'fast-check'
import { describe, expect, test, it } from 'vitest'
import {
  briefly,
  failedTestsIn,
  type BuildBefore,
  type TestReport,
  flakyTestsOf,
  type ReportedAttempt,
} from '../../../src/domain/builds/test-report.ts'
import { idOrder, type ProjectId } from '../../../src/domain/ids.ts'

const report = (change: Partial<TestReport> = {}): TestReport => ({
  shard: null,
  tests: 10,
  failed: change.failures?.length ?? 0,
  skipped: 0,
  flaky: 0,
  durationMs: null,
  failures: [],
  flakyTests: [],
  log: [],
  ...change,
})

const failing = (...names: readonly string[]) => names.map((name) => ({ name, message: null }))
const before = (isRed: boolean, ...reports: readonly TestReport[]): BuildBefore => ({ isRed, reports })

/** The names of the failed tests, with `+` if a test fails newly. */
const named = (reports: readonly TestReport[], last: BuildBefore | null = null): string[] | undefined =>
  failedTestsIn(reports, last)?.failures.map(({ name, isNew }) => `${isNew ? '+' : ''}${name}`)

describe('shards', () => {
  test('are added up, and a later report of a shard replaces the earlier one', () => {
    const one = report({ shard: '1/2', failures: failing('b') })
    const two = report({ shard: '2/2', tests: 5, failed: 3, failures: failing('c', 'a') })
    expect(failedTestsIn([one, two], null)).toMatchObject({ tests: 15, failed: 4 })
    expect(named([one, two])).toEqual(['a', 'b', 'c'])
    expect(named([one, two, report({ shard: '2/2' })])).toEqual(['b'])
  })

  test('without failures give nothing', () => {
    expect(failedTestsIn([report(), report({ shard: '2' })], null)).toBeNull()
    expect(failedTestsIn([], null)).toBeNull()
  })

  test('give the log of the first failed shard that has one', () => {
    const quiet = report({ shard: '1', failures: failing('a') })
    const passed = report({ shard: '2', log: ['ok'] })
    const loud = report({ shard: '3', failures: failing('b'), log: ['exit 1'] })
    expect(failedTestsIn([loud, passed, quiet], null)?.log).toEqual(['exit 1'])
  })

  test('name a test once even if it failed in several shards', () => {
    const shards = ['linux', 'macos'].map((shard) => report({ shard, failures: failing('a') }))
    expect(failedTestsIn(shards, null)).toMatchObject({ failed: 2, failures: [{ name: 'a' }] })
  })

  const anyShard = fc.record({
    shard: fc.constantFrom(null, '1', '2', '3', '4'),
    tests: fc.nat(9),
    failed: fc.nat(9),
    failures: fc.array(
      fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), message: fc.constantFrom(null, 'x', 'y') }),
      { maxLength: 4 },
    ),
    log: fc.array(fc.constantFrom('one', 'two'), { maxLength: 2 }),
  })
  const shards = fc.uniqueArray(anyShard.map(report), { selector: ({ shard }) => shard, minLength: 1 })
  const repeated = shards.chain((each) =>
    fc.record({
      each: fc.constant(each),
      again: fc
        .array(fc.constantFrom(...each))
        .chain((more) => fc.shuffledSubarray([...each, ...more], { minLength: each.length + more.length })),
    }),
  )

  test('give the same in any order and with any repetition', () => {
    fc.assert(
      fc.property(repeated, shards, fc.boolean(), ({ each, again }, last, isRed) => {
        expect(failedTestsIn(again, before(isRed, ...last))).toEqual(failedTestsIn(each, before(isRed, ...last)))
      }),
    )
  })

  test('never have more failures than tests, and never name a test twice', () => {
    fc.assert(
      fc.property(shards, (each) => {
        const told = failedTestsIn(each, null)
        const names = told?.failures.map(({ name }) => name) ?? []
        expect(new Set(names).size).toBe(names.length)
        expect(told === null || told.failed <= told.tests).toBe(true)
      }),
    )
  })
})

describe('a failed test', () => {
  const own = [report({ failures: failing('a', 'b') })]

  test.each<[claim: string, last: BuildBefore | null, names: string[]]>([
    [
      'is new if it did not fail in the previous build, and comes first',
      before(true, report({ failures: failing('a') })),
      ['+b', 'a'],
    ],
    ['is new after a build that passed with a report', before(false, report()), ['+a', '+b']],
    ['is not called new if there was no previous build', null, ['a', 'b']],
    ['is not called new if the previous build has no report', before(false), ['a', 'b']],
    [
      "is not called new if the previous build's names are incomplete",
      before(true, report({ failed: 2, failures: failing('a') })),
      ['a', 'b'],
    ],
  ])('%s', (_, last, names) => {
    expect(named(own, last)).toEqual(names)
  })

  test.each<[claim: string, last: BuildBefore, isSame: boolean]>([
    [
      'are the same if all of them failed in the previous red build',
      before(true, report({ failures: failing('b', 'a') })),
      true,
    ],
    ['are not if one more had failed there', before(true, report({ failures: failing('a', 'b', 'c') })), false],
    ['are not if one of them had not failed there', before(true, report({ failures: failing('a') })), false],
    ['are not if that build passed', before(false, report({ failures: failing('a', 'b') })), false],
  ])('all failed tests of a build %s', (_, last, isSame) => {
    expect(failedTestsIn(own, last)?.isSame).toBe(isSame)
  })
})

test('a card has at most three names, and no more data than it shows', () => {
  const tests = failedTestsIn(
    [report({ failures: failing(...'a b c d e f g h i j k l'.split(' ')), log: ['x'] })],
    null,
  )!
  expect(tests.failures).toHaveLength(10)
  expect(briefly(tests)).toMatchObject({ failed: 12, log: [], failures: failing('a', 'b', 'c') })
})

const ranWith = (failed: readonly string[], change: Partial<TestReport> = {}): TestReport => ({
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
      'is not known if its shard did not run again',
      [
        attempt(1, 1, 'a', ranWith(['sums'], { shard: '1/2' }), ranWith(['adds'], { shard: '2/2' })),
        attempt(1, 2, 'a', ranWith([], { shard: '2/2' })),
      ],
      ['adds 1'],
    ],
    [
      'is not one that fails in another shard later',
      [
        attempt(1, 1, 'a', ranWith(['sums'], { shard: '1/2' })),
        attempt(1, 2, 'a', ranWith([], { shard: '1/2' }), ranWith(['sums'], { shard: '2/2' })),
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
