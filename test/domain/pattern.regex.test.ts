import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { matchBranch, REGEX_BRANCH_CHARS_MAX, REGEX_PIECES_MAX, type BranchMatch } from '../../src/domain/pattern.ts'

type Case = [pattern: string, mode: string, branch: string | null, match: BranchMatch]

const anyText = fc.string({ unit: 'binary', maxLength: 20 })

describe('a regex pattern', () => {
  it.each<Case>([
    ['^release/.*$', 'regex', 'release/1.0', 'matched'],
    ['release/.*', 'regex', 'release/1.0', 'matched'],
    ['release', 'regex', 'release/1.0', 'not-matched'],
    ['release/', 'regex', 'my-release/', 'not-matched'],
    ['main|dev', 'regex', 'dev', 'matched'],
    ['main|dev', 'regex', 'develop', 'not-matched'],
    ['main|dev', 'regex', 'domain', 'not-matched'],
    ['^main|dev$', 'regex', 'main-dev', 'not-matched'],
    ['(?i)main', 'regex', 'MAIN', 'matched'],
    ['main', 'regex', 'MAIN', 'not-matched'],
    ['v\\d+', 'regex', 'v12', 'matched'],
    ['.', 'regex', '🚀', 'matched'],
    ['\\p{Cyrillic}+', 'regex', 'ветка', 'matched'],
    ['main', 'regex', 'main\nx', 'not-matched'],
    ['main.*', 'regex', 'main\nx', 'matched'],
    ['.*', 'regex', '', 'matched'],
    ['main', 'regex', null, 'unknown-branch'],
  ])('%j in mode %s meets %j: %s', (pattern, mode, branch, match) => {
    expect(matchBranch(pattern, mode, branch)).toBe(match)
  })

  it.each([
    '(',
    '[a',
    'a**',
    '*',
    '+',
    '\\',
    '(?P<n>a',
    'a{2,1}',
    'a{1001}',
    '(?<=a)b',
    '(?=a)a',
    '(a)\\1',
    '\\p{Nope}',
  ])('matches nothing and is called invalid: %j', (pattern) => {
    expect(matchBranch(pattern, 'regex', 'a')).toBe('invalid-pattern')
    expect(matchBranch(pattern, 'regex', pattern)).toBe('invalid-pattern')
  })

  it('remembers what it compiled without mixing up patterns, however many there are', () => {
    for (const round of [1, 2])
      for (let i = 0; i < 600; i += 1) {
        expect(matchBranch(`v${i}`, 'regex', `v${i}`), `round ${round}`).toBe('matched')
        expect(matchBranch(`v${i}`, 'regex', `v${i}0`), `round ${round}`).toBe('not-matched')
      }
    expect(matchBranch('(', 'regex', '(')).toBe('invalid-pattern')
    expect(matchBranch('(', 'regex', '(')).toBe('invalid-pattern')
  })

  it('never throws, whatever strangers type', () => {
    const symbols = fc.string({ unit: fc.constantFrom(...'ab()[]{}|*+?\\^$.,0-:<=!P'.split('')), maxLength: 14 })
    fc.assert(
      fc.property(fc.oneof(symbols, anyText), anyText, (pattern, branch) => {
        fc.pre(pattern !== '')
        expect(['matched', 'not-matched', 'invalid-pattern']).toContain(matchBranch(pattern, 'regex', branch))
      }),
      { numRuns: 500 },
    )
  })
})

describe('the pieces of a regex, its counted repetitions written out', () => {
  const most = REGEX_PIECES_MAX
  const half = REGEX_PIECES_MAX / 2

  it.each<[claim: string, pattern: string, branch: string]>([
    ['two counts beside each other', `a{${half}}b{${half}}`, 'a'.repeat(half) + 'b'.repeat(half)],
    ['the larger one of two', `a{1,${half}}`, 'a'],
    ['one without an upper end', `a{${half},}`, 'a'.repeat(half)],
    ['one within a group', `(ab){${half}}`, 'ab'.repeat(half)],
    ['ordinary ones beside each other', '[A-Z]{2,10}-\\d{1,6}-.{1,50}', 'ABC-12-fix'],
    ['a uuid', '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '01234567-89ab-cdef-0123-456789abcdef'],
    ['a code point, which is no count', '\\x{1F680}', '🚀'],
    ['braces in a class', '[{9}]', '9'],
    ['many that count nothing', `b${'a{0}'.repeat(30)}`, 'b'],
  ])('are at most REGEX_PIECES_MAX: %s', (_, pattern, branch) => {
    expect(matchBranch(pattern, 'regex', branch)).toBe('matched')
  })

  it.each<[claim: string, pattern: string]>([
    ['two counts beside each other', `a{${half}}b{${half + 1}}`],
    ['one without an upper end', `a{${half}}b{${half + 1},}`],
    ['one within a group', `(abc){${half}}`],
    ['four that multiply', '(((.{0,8}){8}){8}){8}'],
    ['one after the other', '.{0,1000}'.repeat(110)],
  ])('are invalid beyond it: %s', (_, pattern) => {
    expect(matchBranch(pattern, 'regex', 'a')).toBe('invalid-pattern')
  })

  it('are tried on branches of REGEX_BRANCH_CHARS_MAX characters, and cover no longer one', () => {
    const longest = 'a'.repeat(REGEX_BRANCH_CHARS_MAX)
    expect(matchBranch('a*', 'regex', longest)).toBe('matched')
    expect(matchBranch('a*', 'regex', `${longest}a`)).toBe('not-matched')
    expect(matchBranch('a*', 'wildcard', `${longest}a`)).toBe('matched')
  })

  it('are no concern of the other modes', () => {
    const pattern = `a{${most}}b{${most}}`
    expect(matchBranch(pattern, 'exact', pattern)).toBe('matched')
    expect(matchBranch(`${pattern}*`, 'wildcard', `${pattern}b`)).toBe('matched')
  })
})

describe('pathological patterns take a time linear in the branch', () => {
  afterEach(() => vi.restoreAllMocks())

  it.each<[claim: string, mode: string, pattern: string]>([
    ['nested repetition', 'regex', 'b(a+)+b'],
    ['an ambiguous choice', 'regex', 'b(a|a)*[^a]'],
    ['another one', 'regex', 'b(a|aa)+[^a]'],
    ['repetitions one after another', 'regex', 'b(.*)*(.*)*(.*)*[cd]'],
    ['fourteen that may be missing', 'regex', 'b(a?){14}a{14}a*[^a]'],
    ['forty stars', 'wildcard', `${'*a'.repeat(40)}*c*`],
    ['five hundred stars in a row', 'wildcard', `b${'*'.repeat(500)}c*`],
    ['three hundred stars with pieces that overlap', 'wildcard', `b${'*aa'.repeat(300)}*bb*`],
  ])('%s (%s) reads each character of the branch a few times at most', (_, mode, pattern) => {
    for (const length of [250, 500, REGEX_BRANCH_CHARS_MAX - 1]) {
      const reads = charsRead(pattern, mode, `b${'a'.repeat(length)}`)
      expect(reads).toBeGreaterThanOrEqual(length)
      expect(reads).toBeLessThanOrEqual(3 * length)
    }
  })
})

/** How many characters of the branch a match looks at, counted at the doors of the string itself. */
function charsRead(pattern: string, mode: string, branch: string): number {
  const one = ['charCodeAt', 'codePointAt', 'at', 'charAt'] as const
  const single = one.map((door) => vi.spyOn(String.prototype, door))
  const ends = (['startsWith', 'endsWith'] as const).map((door) => vi.spyOn(String.prototype, door))
  const search = vi.spyOn(String.prototype, 'indexOf')
  const match = matchBranch(pattern, mode, branch)
  const isBranch = (text: unknown) => String(text).length === branch.length
  const singly = single.flatMap(({ mock }) => mock.contexts.filter(isBranch)).length
  const atEnds = ends.flatMap(({ mock }) => mock.calls.filter((_, i) => isBranch(mock.contexts[i])))
  const searched = search.mock.calls.map(([piece, from = 0], i) => {
    const found = Number(search.mock.results[i]!.value)
    return isBranch(search.mock.contexts[i]) ? (found < 0 ? branch.length : found + piece.length) - from : 0
  })
  vi.restoreAllMocks()
  expect(match).toBe('not-matched')
  return [...atEnds.map(([piece]) => piece.length), ...searched].reduce((sum, chars) => sum + chars, singly)
}
