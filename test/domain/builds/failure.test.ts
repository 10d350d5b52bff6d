import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  briefly,
  failuresIn,
  NO_FAILURE,
  type BuildBefore,
  type Failure,
  type FailureReport,
} from '../../../src/domain/builds/failure.ts'

const report = (change: Partial<FailureReport> = {}): FailureReport => ({
  by: 'step',
  attempt: null,
  part: null,
  tests: 10,
  failed: change.failures?.length ?? 0,
  failures: [],
  flakyTests: [],
  log: [],
  ...change,
})

const failing = (...names: readonly string[]) => names.map((name) => ({ ...NO_FAILURE, test: name }))
const before = (isRed: boolean, ...reports: readonly FailureReport[]): BuildBefore => ({ isRed, reports })

/** The names of the failed tests, with `+` if a test fails newly. */
const named = (reports: readonly FailureReport[], last: BuildBefore | null = null): string[] | undefined =>
  failuresIn(reports, last)?.named.map((one) => `${one.isNew ? '+' : ''}${one.test}`)

describe('shards', () => {
  test('are added up, and a later report of a part replaces the earlier one', () => {
    const one = report({ part: '1/2', failures: failing('b') })
    const two = report({ part: '2/2', tests: 5, failed: 3, failures: failing('c', 'a') })
    expect(failuresIn([one, two], null)).toMatchObject({ tests: 15, failed: 4 })
    expect(named([one, two])).toEqual(['a', 'b', 'c'])
    expect(named([one, two, report({ part: '2/2' })])).toEqual(['b'])
  })

  test('without failures give nothing', () => {
    expect(failuresIn([report(), report({ part: '2' })], null)).toBeNull()
    expect(failuresIn([], null)).toBeNull()
  })

  test('give the log of the first failed part that has one', () => {
    const quiet = report({ part: '1', failures: failing('a') })
    const passed = report({ part: '2', log: ['ok'] })
    const loud = report({ part: '3', failures: failing('b'), log: ['exit 1'] })
    expect(failuresIn([loud, passed, quiet], null)?.log).toEqual(['exit 1'])
  })

  test('name a test once even if it failed in several shards', () => {
    const shards = ['linux', 'macos'].map((part) => report({ part, failures: failing('a') }))
    expect(failuresIn(shards, null)).toMatchObject({ failed: 2, named: [{ test: 'a' }] })
  })

  const none = fc.constant(null)
  const nothing = { job: none, step: none, path: none, line: none, url: none }
  const anyShard = fc.record({
    by: fc.constantFrom('step', 'source'),
    part: fc.constantFrom(null, '1', '2', '3', '4'),
    tests: fc.nat(9),
    failed: fc.nat(9),
    failures: fc.array(
      fc.record({ ...nothing, test: fc.constantFrom('a', 'b', 'c', 'd'), message: fc.constantFrom(null, 'x', 'y') }),
      { maxLength: 4 },
    ),
    log: fc.array(fc.constantFrom('one', 'two'), { maxLength: 2 }),
  })
  const shards = fc.uniqueArray(anyShard.map(report), { selector: ({ by, part }) => `${by} ${part}`, minLength: 1 })
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
        expect(failuresIn(again, before(isRed, ...last))).toEqual(failuresIn(each, before(isRed, ...last)))
      }),
    )
  })

  test('never have more failures than tests, and never name a test twice', () => {
    fc.assert(
      fc.property(shards, (each) => {
        const told = failuresIn(each, null)
        const names = told?.named.map((one) => one.test) ?? []
        expect(new Set(names).size).toBe(names.length)
        expect(told === null || told.failed <= told.tests!).toBe(true)
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
    expect(failuresIn(own, last)?.isSame).toBe(isSame)
  })
})

test('a card has at most three names, and no more data than it shows', () => {
  const tests = failuresIn([report({ failures: failing(...'a b c d e f g h i j k l'.split(' ')), log: ['x'] })], null)!
  expect(tests.named).toHaveLength(10)
  expect(briefly(tests)).toMatchObject({ failed: 12, log: [], named: failing('a', 'b', 'c') })
})

describe('what a source says of its jobs', () => {
  const failed = (change: Partial<Failure>): Failure => ({ ...NO_FAILURE, job: 'lint', path: 'src/cart.ts', ...change })
  const ofJob = (...failures: Failure[]) =>
    report({ by: 'source', part: 'lint', tests: null, failures, log: ['exit 1'] })
  const unknown = failed({ line: 12, message: "'total' is not defined" })

  test('is shown without a count of tests', () => {
    expect(failuresIn([ofJob(unknown)], null)).toMatchObject({
      tests: null,
      failed: 1,
      named: [unknown],
      log: ['exit 1'],
    })
  })

  test('is left out if a build step reports failed tests, and not if its tests passed', () => {
    const tests = report({ failures: failing('a') })
    expect(failuresIn([ofJob(unknown), tests], null)).toMatchObject({ tests: 10, failed: 1, named: [{ test: 'a' }] })
    expect(failuresIn([ofJob(unknown), report()], null)).toMatchObject({ tests: null, failed: 1, named: [unknown] })
  })

  test('is the same failure after lines have moved, and another one with another message', () => {
    const last = before(true, ofJob(failed({ line: 7, message: "'total' is not defined" })))
    expect(failuresIn([ofJob(unknown)], last)).toMatchObject({ isSame: true, named: [{ isNew: false }] })
    expect(failuresIn([ofJob(unknown)], before(false))).toMatchObject({ named: [{ isNew: true }] })
    expect(failuresIn([ofJob(unknown)], before(true))).toMatchObject({ named: [{ isNew: false }] })
    const other = failed({ line: 12, message: "'sum' is not defined" })
    expect(failuresIn([ofJob(other)], last)).toMatchObject({ isSame: false, named: [{ isNew: true }] })
  })
})
