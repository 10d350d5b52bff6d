import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  filterInWords,
  filterOf,
  wouldBuild,
  type BranchFilter,
  PATTERN_CHARS_MAX,
} from '../../../src/domain/rules/pattern.ts'

const include = (...entries: string[]): BranchFilter => ({ mode: 'include', entries })
const exclude = (...entries: string[]): BranchFilter => ({ mode: 'exclude', entries })
const built = (filter: BranchFilter, branch: string) => {
  const { isBuilt, by } = wouldBuild(filter, branch)
  return [isBuilt, by]
}

describe('a filter that includes', () => {
  it.each<[claim: string, filter: BranchFilter, branch: string, isBuilt: boolean, by: string | null]>([
    ['builds a branch that it lists', include('main'), 'main', true, 'main'],
    ['builds no other branch', include('main'), 'develop', false, null],
    ['compares whole names', include('main'), 'main-2', false, null],
    ['is case-sensitive', include('main'), 'Main', false, null],
    ['takes a star literally', include('release/*'), 'release/1.0', false, null],
    ['takes a dot literally', include('v1.0'), 'v1x0', false, null],
    ['builds branches that match a regex', include('main', '^release/.*$'), 'release/1.0', true, '^release/.*$'],
    ['requires a regex to match the whole name', include('^main|dev$'), 'main-dev', false, null],
    ['names the first entry that matches', include('^m.*$', 'main'), 'main', true, '^m.*$'],
  ])('%s', (_, filter, branch, isBuilt, by) => {
    expect(built(filter, branch)).toEqual([isBuilt, by])
  })
})

describe('a filter that excludes', () => {
  it.each<[claim: string, filter: BranchFilter, branch: string, isBuilt: boolean, by: string | null]>([
    ['does not build a branch that it lists', exclude('main'), 'main', false, 'main'],
    ['builds all other branches', exclude('main'), 'develop', true, null],
    ['does not build branches that match a regex', exclude('^wip/.*$'), 'wip/login', false, '^wip/.*$'],
  ])('%s', (_, filter, branch, isBuilt, by) => {
    expect(built(filter, branch)).toEqual([isBuilt, by])
  })
})

describe('a filter without entries', () => {
  it.each(['include', 'exclude', 'sometimes', null])('builds every branch, whatever its mode: %j', (mode) => {
    expect(wouldBuild({ mode, entries: [] }, 'main')).toEqual({ isBuilt: true, by: null, invalid: [] })
  })
})

describe('a filter with an unknown mode', () => {
  it.each(['sometimes', '', null])('does not say whether a branch is built: %j', (mode) => {
    expect(built({ mode, entries: ['main'] }, 'main')).toEqual([null, 'main'])
    expect(built({ mode, entries: ['main'] }, 'develop')).toEqual([null, null])
  })

  it('is not one whose known mode has other capitals or blanks', () => {
    expect(built({ mode: ' Exclude ', entries: ['main'] }, 'main')).toEqual([false, 'main'])
  })
})

describe('an entry that can match nothing', () => {
  const long = 'a'.repeat(PATTERN_CHARS_MAX)

  it.each<[claim: string, entry: string, branch: string]>([
    ['a regex that is not valid', '^(main$', '(main'],
    ['a backreference, which takes more than linear time', '^(a)\\1$', 'aa'],
    ['a regex without $ at the end', '^main', 'main'],
    ['a regex without ^ at the start', 'main$', 'main'],
    ['an entry that is too long', `${long}a`, `${long}a`],
  ])('is reported as invalid: %s', (_, entry, branch) => {
    expect(wouldBuild(include(entry), branch)).toEqual({ isBuilt: false, by: null, invalid: [entry] })
    expect(wouldBuild(exclude(entry), branch)).toEqual({ isBuilt: true, by: null, invalid: [entry] })
  })

  it('is not reported if it is just short enough', () => {
    expect(wouldBuild(include(long), long)).toEqual({ isBuilt: true, by: long, invalid: [] })
  })

  it('is reported once, and does not affect other entries', () => {
    expect(wouldBuild(include('^(', '^(', 'main'), 'main')).toEqual({ isBuilt: true, by: 'main', invalid: ['^('] })
  })
})

describe('any filter', () => {
  const entries = fc.array(fc.constantFrom('main', 'develop', '^m.*$', '^(', '^.*$', '', 'release/*'), { maxLength: 4 })
  const branch = fc.constantFrom('main', 'develop', 'release/1.0', 'ветка')

  it('builds as an including filter exactly what it does not build as an excluding one', () => {
    fc.assert(
      fc.property(entries, branch, (some, each) => {
        const [including, excluding] = [wouldBuild(include(...some), each), wouldBuild(exclude(...some), each)]
        expect([excluding.by, excluding.invalid]).toEqual([including.by, including.invalid])
        expect(excluding.isBuilt).toBe(some.length === 0 ? including.isBuilt : !including.isBuilt)
      }),
    )
  })
})

describe('the filter of a project', () => {
  it.each<[claim: string, raw: Record<string, unknown>, filter: BranchFilter]>([
    ['as CI sends it', { branch_match: 'include', branches: ['main', '^v.*$'] }, include('main', '^v.*$')],
    ['missing', {}, { mode: null, entries: [] }],
    ['null', { branch_match: null, branches: null }, { mode: null, entries: [] }],
    [
      'with blank and odd entries',
      { branches: ['', ' ', null, {}, 12, 'main'] },
      { mode: null, entries: ['12', 'main'] },
    ],
    ['as a string', { branch_match: 'exclude', branches: 'main' }, exclude('main')],
    ['in an unknown form', { branch_match: {}, branches: { main: true } }, { mode: null, entries: [] }],
  ])('is read %s', (_, raw, filter) => {
    expect(filterOf(raw)).toEqual(filter)
  })

  it.each<[filter: BranchFilter, words: ReturnType<typeof filterInWords>]>([
    [include(), { kind: 'all' }],
    [{ mode: null, entries: [] }, { kind: 'all' }],
    [include('main'), { kind: 'only', entries: ['main'] }],
    [exclude('main'), { kind: 'not', entries: ['main'] }],
    [
      { mode: 'sometimes', entries: ['main'] },
      { kind: 'unclear', mode: 'sometimes', entries: ['main'] },
    ],
    [
      { mode: null, entries: ['main'] },
      { kind: 'unclear', mode: null, entries: ['main'] },
    ],
  ])('%j reads as %j', (filter, words) => {
    expect(filterInWords(filter)).toEqual(words)
  })
})
