import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  beyondOneEvent,
  matchBranch,
  REGEX_BRANCH_CHARS_MAX,
  REGEX_SIZE_MAX,
  REGEXES_MAX,
  REGEXES_SIZE_MAX,
  type BranchMatch,
} from '../../../src/domain/rules/pattern.ts'
import { anyText } from '../../support/any-text.ts'

type Case = [pattern: string, mode: string, branch: string | null, match: BranchMatch]

const anyBranch = anyText({ maxLength: 20 })

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
  ])('%j in mode %s on branch %j: %s', (pattern, mode, branch, match) => {
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
  ])('matches nothing and is reported as invalid: %j', (pattern) => {
    expect(matchBranch(pattern, 'regex', 'a')).toBe('invalid-pattern')
    expect(matchBranch(pattern, 'regex', pattern)).toBe('invalid-pattern')
  })

  it('does not mix up cached patterns, however many there are', () => {
    for (const round of [1, 2])
      for (let i = 0; i < 600; i += 1) {
        expect(matchBranch(`v${i}`, 'regex', `v${i}`), `round ${round}`).toBe('matched')
        expect(matchBranch(`v${i}`, 'regex', `v${i}0`), `round ${round}`).toBe('not-matched')
      }
    expect(matchBranch('(', 'regex', '(')).toBe('invalid-pattern')
    expect(matchBranch('(', 'regex', '(')).toBe('invalid-pattern')
  })

  it('never throws, whatever people type', () => {
    const symbols = fc.string({ unit: fc.constantFrom(...'ab()[]{}|*+?\\^$.,0-:<=!P'.split('')), maxLength: 14 })
    fc.assert(
      fc.property(fc.oneof(symbols, anyBranch), anyBranch, (pattern, branch) => {
        fc.pre(pattern !== '')
        expect(['matched', 'not-matched', 'invalid-pattern']).toContain(matchBranch(pattern, 'regex', branch))
      }),
      { numRuns: 500 },
    )
  })
})

describe('the size of a regex', () => {
  const most = REGEX_SIZE_MAX - 10
  const half = most / 2

  it.each<[claim: string, pattern: string, branch: string]>([
    ['two repetitions side by side', 'a{100}b{100}', 'a'.repeat(100) + 'b'.repeat(100)],
    ['the larger of two repetitions', `a{1,${half}}`, 'a'],
    ['a repetition without an upper limit', 'a{200,}', 'a'.repeat(200)],
    ['a repeated group', '(?:ab){100}', 'ab'.repeat(100)],
    ['ordinary repetitions side by side', '[A-Z]{2,10}-\\d{1,6}-.{1,50}', 'ABC-12-fix'],
    ['a uuid', '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '01234567-89ab-cdef-0123-456789abcdef'],
    ['a code point, which is not a repetition', '\\x{1F680}', '🚀'],
    ['braces in a character class', '[{9}]', '9'],
    ['many repetitions of zero', `b${'a{0}'.repeat(30)}`, 'b'],
    [
      'sixty teams',
      Array.from({ length: 60 }, (_, n) => `feature/team${n}-.*`)
        .join('|')
        .slice(0, 990),
      'feature/team7-x',
    ],
  ])('is at most REGEX_SIZE_MAX: %s', (_, pattern, branch) => {
    expect(matchBranch(pattern, 'regex', branch)).toBe('matched')
  })

  it.each<[claim: string, pattern: string]>([
    ['two repetitions side by side', `a{${half}}b{${half + 20}}`],
    ['a repetition without an upper limit', `a{${half}}b{${half + 20},}`],
    ['a repeated group', `(abc){${half}}`],
    ['four nested repetitions, whose numbers multiply', '(((.{0,8}){8}){8}){8}'],
    ['many repetitions in a row', '.{0,1000}'.repeat(110)],
  ])('is invalid above REGEX_SIZE_MAX: %s', (_, pattern) => {
    expect(matchBranch(pattern, 'regex', 'a')).toBe('invalid-pattern')
  })

  it('includes what follows \\Q[\\E: a pattern that once froze the bot for seconds is refused at once', () => {
    const attack = `^(?:\\Q[\\E)?${'((?:(?:.?){10}){99})'.repeat(51).slice(0, 940)}`
    const bounded = `^(?:\\Q[\\E)?${'((?:(?:.?){10}){99})'.repeat(46)}]?$`
    for (const pattern of [attack, bounded, `(?:${'(a|)'.repeat(240)}){0,1000}`]) {
      const beganAt = performance.now()
      expect(matchBranch(pattern, 'regex', 'a'.repeat(REGEX_BRANCH_CHARS_MAX))).toBe('invalid-pattern')
      expect(performance.now() - beganAt).toBeLessThan(300)
    }
  })

  it('is limited over all regexes of one event: the largest ones are left out, whoever wrote them', () => {
    const rule = (branch: string) => ({ branch, branchMatch: 'regex' })
    const large = Array.from({ length: 50 }, (_, n) => rule(`.{0,450}${n}`))
    const small = Array.from({ length: 100 }, (_, n) => rule(`release/${n}/.*`))
    const beyond = beyondOneEvent([...large, ...small])
    expect(beyond.size).toBeGreaterThan(0)
    expect(beyond.size).toBeLessThan(large.length)
    expect([...beyond].every((pattern) => large.some(({ branch }) => branch === pattern))).toBe(true)
    const many = Array.from({ length: REGEXES_MAX + 5 }, (_, n) => rule(`v${n}`))
    expect(beyondOneEvent(many).size).toBe(5)
    expect(beyondOneEvent([...small, { branch: '.{0,450}*', branchMatch: 'wildcard' }]).size).toBe(0)
  })

  it(`of all regexes of one event, ${REGEXES_SIZE_MAX} instructions, allows matching in seconds`, () => {
    const rules = Array.from({ length: 400 }, (_, n) => ({ branch: `(?:\\pL?){480}${n}`, branchMatch: 'regex' }))
    const branch = 'b'.repeat(REGEX_BRANCH_CHARS_MAX)
    const beganAt = performance.now()
    const beyond = beyondOneEvent(rules)
    for (const one of rules) if (!beyond.has(one.branch)) matchBranch(one.branch, 'regex', branch)
    expect(performance.now() - beganAt).toBeLessThan(5_000)
  })

  it('is limited together with the branch: no regex matches a branch longer than REGEX_BRANCH_CHARS_MAX', () => {
    const longest = 'a'.repeat(REGEX_BRANCH_CHARS_MAX)
    expect(matchBranch('a*', 'regex', longest)).toBe('matched')
    expect(matchBranch('a*', 'regex', `${longest}a`)).toBe('not-matched')
    expect(matchBranch('a*', 'wildcard', `${longest}a`)).toBe('matched')
  })

  it('does not matter in the other modes', () => {
    const pattern = `a{${most}}b{${most}}`
    expect(matchBranch(pattern, 'exact', pattern)).toBe('matched')
    expect(matchBranch(`${pattern}*`, 'wildcard', `${pattern}b`)).toBe('matched')
  })
})

describe('pathological patterns take a time linear in the branch', () => {
  afterEach(() => vi.restoreAllMocks())

  it.each<[claim: string, mode: string, pattern: string]>([
    ['nested repetitions', 'regex', 'b(a+)+b'],
    ['an ambiguous choice', 'regex', 'b(a|a)*[^a]'],
    ['another ambiguous choice', 'regex', 'b(a|aa)+[^a]'],
    ['repetitions in a row', 'regex', 'b(.*)*(.*)*(.*)*[cd]'],
    ['fourteen optional characters', 'regex', 'b(a?){14}a{14}a*[^a]'],
    ['forty stars', 'wildcard', `${'*a'.repeat(40)}*c*`],
    ['five hundred stars in a row', 'wildcard', `b${'*'.repeat(500)}c*`],
    ['three hundred stars with overlapping pieces', 'wildcard', `b${'*aa'.repeat(300)}*bb*`],
  ])('%s (%s) reads each character of the branch at most three times', (_, mode, pattern) => {
    for (const length of [100, 200, REGEX_BRANCH_CHARS_MAX - 1]) {
      const reads = charsRead(pattern, mode, `b${'a'.repeat(length)}`)
      expect(reads).toBeGreaterThanOrEqual(length)
      expect(reads).toBeLessThanOrEqual(3 * length)
    }
  })
})

/** How many characters of the branch a match reads, counted by spying on the string methods. */
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
