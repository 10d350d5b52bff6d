import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filterInWords, filterOf, wouldBuild, type BranchFilter, PATTERN_CHARS_MAX } from '../../src/domain/pattern.ts'

const include = (...entries: string[]): BranchFilter => ({ mode: 'include', entries })
const exclude = (...entries: string[]): BranchFilter => ({ mode: 'exclude', entries })
const built = (filter: BranchFilter, branch: string) => {
  const { isBuilt, by } = wouldBuild(filter, branch)
  return [isBuilt, by]
}

describe('a filter that includes', () => {
  it.each<[claim: string, filter: BranchFilter, branch: string, isBuilt: boolean, by: string | null]>([
    ['builds a branch that it names', include('main'), 'main', true, 'main'],
    ['builds no other', include('main'), 'develop', false, null],
    ['takes a name whole', include('main'), 'main-2', false, null],
    ['takes a name as it is written', include('main'), 'Main', false, null],
    ['takes a star for a star', include('release/*'), 'release/1.0', false, null],
    ['takes a dot for a dot', include('v1.0'), 'v1x0', false, null],
    ['builds what a regex matches', include('main', '^release/.*$'), 'release/1.0', true, '^release/.*$'],
    ['matches a regex from end to end', include('^main|dev$'), 'main-dev', false, null],
    ['is decided by its first entry that matches', include('^m.*$', 'main'), 'main', true, '^m.*$'],
  ])('%s', (_, filter, branch, isBuilt, by) => {
    expect(built(filter, branch)).toEqual([isBuilt, by])
  })
})

describe('a filter that excludes', () => {
  it.each<[claim: string, filter: BranchFilter, branch: string, isBuilt: boolean, by: string | null]>([
    ['does not build a branch that it names', exclude('main'), 'main', false, 'main'],
    ['builds every other', exclude('main'), 'develop', true, null],
    ['does not build what a regex matches', exclude('^wip/.*$'), 'wip/login', false, '^wip/.*$'],
  ])('%s', (_, filter, branch, isBuilt, by) => {
    expect(built(filter, branch)).toEqual([isBuilt, by])
  })
})

describe('a filter without entries', () => {
  it.each(['include', 'exclude', 'sometimes', null])('builds every branch, whatever its word: %j', (mode) => {
    expect(wouldBuild({ mode, entries: [] }, 'main')).toEqual({ isBuilt: true, by: null, invalid: [] })
  })
})

describe('a filter whose word is not known', () => {
  it.each(['sometimes', '', null])('does not say whether a branch is built: %j', (mode) => {
    expect(built({ mode, entries: ['main'] }, 'main')).toEqual([null, 'main'])
    expect(built({ mode, entries: ['main'] }, 'develop')).toEqual([null, null])
  })

  it('is none that is only written otherwise', () => {
    expect(built({ mode: ' Exclude ', entries: ['main'] }, 'main')).toEqual([false, 'main'])
  })
})

describe('an entry that can match nothing', () => {
  const long = 'a'.repeat(PATTERN_CHARS_MAX)

  it.each<[claim: string, entry: string, branch: string]>([
    ['a regex that is not valid', '^(main$', '(main'],
    ['one that looks back, which takes more than linear time', '^(a)\\1$', 'aa'],
    ['a regex without its end', '^main', 'main'],
    ['a regex without its begin', 'main$', 'main'],
    ['one that is too long', `${long}a`, `${long}a`],
  ])('is named: %s', (_, entry, branch) => {
    expect(wouldBuild(include(entry), branch)).toEqual({ isBuilt: false, by: null, invalid: [entry] })
    expect(wouldBuild(exclude(entry), branch)).toEqual({ isBuilt: true, by: null, invalid: [entry] })
  })

  it('is none that is just short enough', () => {
    expect(wouldBuild(include(long), long)).toEqual({ isBuilt: true, by: long, invalid: [] })
  })

  it('is named once, and hides no other entry', () => {
    expect(wouldBuild(include('^(', '^(', 'main'), 'main')).toEqual({ isBuilt: true, by: 'main', invalid: ['^('] })
  })
})

describe('any filter', () => {
  const entries = fc.array(fc.constantFrom('main', 'develop', '^m.*$', '^(', '^.*$', '', 'release/*'), { maxLength: 4 })
  const branch = fc.constantFrom('main', 'develop', 'release/1.0', 'ветка')

  it('builds by including exactly what it does not build by excluding', () => {
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
      'with blanks and other things among its entries',
      { branches: ['', ' ', null, {}, 12, 'main'] },
      { mode: null, entries: ['12', 'main'] },
    ],
    ['as one text', { branch_match: 'exclude', branches: 'main' }, exclude('main')],
    ['of no known form', { branch_match: {}, branches: { main: true } }, { mode: null, entries: [] }],
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
  ])('%j says %j', (filter, words) => {
    expect(filterInWords(filter)).toEqual(words)
  })
})
