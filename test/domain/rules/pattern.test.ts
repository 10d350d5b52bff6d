import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canCoverBranch,
  coversBranch,
  matchBranch,
  PATTERN_CHARS_MAX,
  type BranchMatch,
} from '../../../src/domain/rules/pattern.ts'
import { anyText } from '../../support/any-text.ts'

type Case = [pattern: string | null, mode: string | null, branch: string | null, match: BranchMatch]

const anyBranch = anyText({ maxLength: 20 })

describe('an empty pattern', () => {
  it.each<Case>([
    [null, null, 'main', 'all'],
    ['', null, 'main', 'all'],
    [null, 'exact', 'main', 'all'],
    ['', 'regex', 'main', 'all'],
    ['', 'wildcard', 'main', 'all'],
    [null, null, null, 'all'],
    ['', 'exact', null, 'all'],
  ])('%j in mode %s covers the branch %j: %s', (pattern, mode, branch, match) => {
    expect(matchBranch(pattern, mode, branch)).toBe(match)
  })
})

describe('an exact pattern', () => {
  it.each<Case>([
    ['main', 'exact', 'main', 'matched'],
    ['main', 'exact', 'Main', 'not-matched'],
    ['main', 'exact', 'main2', 'not-matched'],
    ['main', 'exact', ' main', 'not-matched'],
    ['release/*', 'exact', 'release/1', 'not-matched'],
    ['release/*', 'exact', 'release/*', 'matched'],
    ['m.in', 'exact', 'main', 'not-matched'],
    ['ветка', 'exact', 'ветка', 'matched'],
    ['main', 'exact', null, 'unknown-branch'],
  ])('%j in mode %s on branch %j: %s', (pattern, mode, branch, match) => {
    expect(matchBranch(pattern, mode, branch)).toBe(match)
  })

  it('matches itself and nothing else, in any script', () => {
    const pattern = anyText({ minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(pattern, anyBranch, (one, other) => {
        expect(matchBranch(one, 'exact', one)).toBe('matched')
        expect(matchBranch(one, 'exact', other)).toBe(one === other ? 'matched' : 'not-matched')
      }),
    )
  })
})

describe('a wildcard pattern', () => {
  it.each<Case>([
    ['*', 'wildcard', 'main', 'matched'],
    ['*', 'wildcard', '', 'matched'],
    ['**', 'wildcard', 'a/b', 'matched'],
    ['release/*', 'wildcard', 'release/1.0', 'matched'],
    ['release/*', 'wildcard', 'release/', 'matched'],
    ['release/*', 'wildcard', 'release', 'not-matched'],
    ['release/*', 'wildcard', 'pre-release/1', 'not-matched'],
    ['release/*', 'wildcard', 'release/2026/spring', 'matched'],
    ['*/fix', 'wildcard', 'ada/login/fix', 'matched'],
    ['*/fix', 'wildcard', 'ada/fixed', 'not-matched'],
    ['feature/*/v*-rc*', 'wildcard', 'feature/login/page/v2-rc1', 'matched'],
    ['feature/*/v*-rc*', 'wildcard', 'feature/login/v2', 'not-matched'],
    ['a*a', 'wildcard', 'a', 'not-matched'],
    ['a*a', 'wildcard', 'aa', 'matched'],
    ['ab*ba', 'wildcard', 'aba', 'not-matched'],
    ['*ab*ab*', 'wildcard', 'abab', 'matched'],
    ['*ab*ab*', 'wildcard', 'aba', 'not-matched'],
    ['*ab*b', 'wildcard', 'ab', 'not-matched'],
    ['main', 'wildcard', 'main', 'matched'],
    ['main', 'wildcard', 'maine', 'not-matched'],
    ['v1.?[a]*', 'wildcard', 'v1.?[a]x', 'matched'],
    ['v1.*', 'wildcard', 'v1x2', 'not-matched'],
    ['Main*', 'wildcard', 'main', 'not-matched'],
    ['ветка/*', 'wildcard', 'ветка/исправление', 'matched'],
    ['*🚀', 'wildcard', 'feature/🚀', 'matched'],
    ['release/*', 'wildcard', null, 'unknown-branch'],
    ['*', 'wildcard', null, 'all'],
    ['*', null, null, 'all'],
    ['*', '', null, 'all'],
    ['*', 'exact', null, 'unknown-branch'],
    ['*', 'regex', null, 'unknown-branch'],
    ['*', 'glob', null, 'unknown-branch'],
  ])('%j in mode %s on branch %j: %s', (pattern, mode, branch, match) => {
    expect(matchBranch(pattern, mode, branch)).toBe(match)
  })

  it('agrees with a plain implementation, in which each star is any run of characters', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 9 })
    const branch = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 })
    fc.assert(
      fc.property(letters, branch, (pattern, name) => {
        fc.pre(pattern !== '')
        expect(matchBranch(pattern, 'wildcard', name)).toBe(byDefinition(pattern, name) ? 'matched' : 'not-matched')
      }),
      { numRuns: 1_000 },
    )
  })

  it('matches whatever replaces its stars', () => {
    const pieces = fc.array(anyBranch, { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(pieces, fc.array(anyBranch, { minLength: 5, maxLength: 5 }), (fixed, filled) => {
        const branch = fixed.map((piece, i) => (i === 0 ? piece : filled[i]! + piece)).join('')
        expect(matchBranch(fixed.join('*'), 'wildcard', branch)).toBe('matched')
      }),
    )
  })
})

/** A plain implementation, one character at a time. */
function byDefinition(pattern: string, branch: string): boolean {
  if (pattern === '') return branch === ''
  if (pattern[0] !== '*') return pattern[0] === branch[0] && byDefinition(pattern.slice(1), branch.slice(1))
  return byDefinition(pattern.slice(1), branch) || (branch !== '' && byDefinition(pattern, branch.slice(1)))
}

describe('canCoverBranch', () => {
  it.each([
    ['main', null],
    ['release/*', null],
    ['*', null],
    ['*/v*.*', null],
    ['feature/#1-a_b{c}(d)|e+$', null],
    ['@', 'exact'],
    ['ветка', 'exact'],
    ['^(a', 'regex'],
    ['', null],
    ['a b', 'glob'],
  ])('accepts %s (%s)', (pattern, mode) => expect(canCoverBranch(pattern, mode)).toBe(true))

  it.each([
    '^(a',
    '^release/.*$',
    'a b',
    'a~1',
    'a:b',
    'a?',
    'v[0-9]',
    'a\\b',
    'a..b',
    'a@{b',
    'a\u0007b',
    'a\u007f',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a.lock',
    'a.lock/b',
    '.*',
    'release/.*',
    '*..*',
    '*.lock',
  ])('refuses %j', (pattern) => expect(canCoverBranch(pattern, null)).toBe(false))

  it('refuses a star in mode exact', () => expect(canCoverBranch('release/*', 'exact')).toBe(false))

  it('accepts every pattern that matches a branch', () => {
    const branch = fc.stringMatching(/^[a-z]{1,4}([./-][a-z]{1,4}){0,3}$/).filter((name) => !/lock/.test(name))
    const starred = fc.tuple(branch, fc.nat(8), fc.nat(8)).map(([name, at, length]) => ({
      name,
      pattern: `${name.slice(0, at)}*${name.slice(at + length)}`,
    }))
    fc.assert(
      fc.property(starred, ({ name, pattern }) => {
        expect(matchBranch(pattern, null, name)).toBe('matched')
        expect(canCoverBranch(pattern, null)).toBe(true)
      }),
    )
  })
})

describe('the mode of a pattern', () => {
  it.each<Case>([
    ['main', null, 'main', 'matched'],
    ['main', null, 'maine', 'not-matched'],
    ['release/*', null, 'release/1', 'matched'],
    ['release/*', '', 'release/1', 'matched'],
    ['release/*', ' ', 'release/1', 'matched'],
    ['main', '', 'main', 'matched'],
    ['main', '', 'maine', 'not-matched'],
    ['*', null, 'main', 'matched'],
    ['^main$', null, 'main', 'not-matched'],
    ['m.in', null, 'main', 'not-matched'],
  ])('of %j, if it is %j, is wildcard on %j only if the pattern has a star: %s', (pattern, mode, branch, match) => {
    expect(matchBranch(pattern, mode, branch)).toBe(match)
  })

  it.each<Case>([
    ['release/*', 'Exact', 'release/1', 'not-matched'],
    ['release/*', ' EXACT ', 'release/*', 'matched'],
    ['release/*', 'Wildcard', 'release/1', 'matched'],
    ['m.in', 'REGEX', 'main', 'matched'],
    ['Main', 'EXACT', 'main', 'not-matched'],
  ])('of %j may be spelt %s, while the branch %j is compared as it is: %s', (pattern, mode, branch, match) => {
    expect(matchBranch(pattern, mode, branch)).toBe(match)
  })

  it.each(['glob', 'prefix', 'constructor'])('is not guessed if it is %s', (mode) => {
    expect(matchBranch('main', mode, 'main')).toBe('invalid-pattern')
  })
})

describe('the longest pattern', () => {
  const name = 'a'.repeat(PATTERN_CHARS_MAX)
  const aClass = `[${'a'.repeat(PATTERN_CHARS_MAX - 2)}]`

  it.each([
    ['exact', name, `${name}a`, name],
    ['wildcard', name, `${name}a`, name],
    ['regex', aClass, `${aClass}?`, 'a'],
  ])('in mode %s has PATTERN_CHARS_MAX characters', (mode, longest, longer, branch) => {
    expect(matchBranch(longest, mode, branch)).toBe('matched')
    expect(matchBranch(longer, mode, branch)).toBe('invalid-pattern')
  })
})

it.each<[BranchMatch, boolean]>([
  ['all', true],
  ['matched', true],
  ['not-matched', false],
  ['unknown-branch', false],
  ['invalid-pattern', false],
])('%s covers the branch: %s', (match, covers) => {
  expect(coversBranch(match)).toBe(covers)
})
