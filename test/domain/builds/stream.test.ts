import { expect, it } from 'vitest'
import { matchBranch } from '../../../src/domain/rules/pattern.ts'
import { branchIn, hasStreak, shownStream, streamOf } from '../../../src/domain/builds/stream.ts'

it.each<[branch: string, trigger: string | null, name: string, shown: string]>([
  ['main', null, 'main', 'main'],
  ['main', 'nightly', 'main · nightly', 'main · nightly'],
  ['feature-x', '#87', 'feature-x · #87', '#87'],
  [
    'gh-readonly-queue/main/pr-87-a1b2c',
    '#87 · merge queue',
    'gh-readonly-queue/main/pr-87-a1b2c · #87 · merge queue',
    '#87 · merge queue',
  ],
])('builds of %s that %s started belong to the stream %s, shown as %s', (branch, trigger, name, shown) => {
  expect(streamOf(branch, trigger)).toBe(name)
  expect(branchIn(name)).toBe(branch)
  expect(shownStream(name)).toBe(shown)
})

it('a build without a branch belongs to no stream', () => {
  expect(streamOf(null, 'nightly')).toBeNull()
})

it('only tags and the merge queue have no streak', () => {
  const all = ['main', 'main · nightly', 'x · #87', 'v1 · tag', 'x · #87 · merge queue', '!12 · merge queue', 'tag']
  expect(all.filter(hasStreak)).toEqual(['main', 'main · nightly', 'x · #87', 'tag'])
})

it.each([
  ['main', 'exact'],
  ['ma*', 'wildcard'],
  ['^main$', 'regex'],
])('the rule %s (%s) covers every stream of its branch', (pattern, mode) => {
  for (const stream of ['main', 'main · nightly', 'main · #87'])
    expect(matchBranch(pattern, mode, stream)).toBe('matched')
  expect(matchBranch(pattern, mode, 'other · main')).toBe('not-matched')
})
