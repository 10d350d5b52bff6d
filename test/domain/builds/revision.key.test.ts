import * as fc from 'fast-check'
import { revisionKey } from '../../../src/domain/builds/build-event.ts'
import { describe, expect, it } from 'vitest'
import { branchKey } from '../../../src/domain/builds/revision.ts'
import { COMMIT, HOUR, projectId, story, WEB, type Said } from '../../support/build-events.ts'
import { anyText } from '../../support/any-text.ts'

const keyOf = (said: Omit<Said, 'word'>): string => revisionKey(story({ word: 'success', ...said })[0]!)

describe('the key of a revision', () => {
  it('is 32 hex digits', () => {
    expect(keyOf({})).toMatch(/^[0-9a-f]{32}$/)
  })

  it.each<[claim: string, Omit<Said, 'word'>]>([
    ['another build of the commit', { build: '513' }],
    ['a commit in capitals', { commit: COMMIT.toUpperCase() }],
    ['another message, committer and time', { after: HOUR, details: { message: 'x', committer: 'Grace' } }],
  ])('is shared by %s', (_, said) => {
    expect(keyOf(said)).toBe(keyOf({}))
  })

  it.each<[claim: string, Omit<Said, 'word'>]>([
    ['project', { project: '42' }],
    ['branch', { branch: 'Main' }],
    ['missing branch', { branch: null }],
    ['commit', { commit: COMMIT.replace('a', 'b') }],
    ['missing commit', { commit: null }],
  ])('differs with another %s', (_, said) => {
    expect(keyOf(said)).not.toBe(keyOf({}))
  })

  it('is that of the build alone if the commit is unknown', () => {
    expect(keyOf({ commit: null })).toBe(keyOf({ commit: null }))
    expect(keyOf({ commit: null, build: '513' })).not.toBe(keyOf({ commit: null }))
  })

  it('differs between a build and a commit with the same digits', () => {
    expect(keyOf({ commit: null, build: '512' })).not.toBe(keyOf({ commit: '512' }))
  })

  it('differs between a missing branch and a branch called "null"', () => {
    expect(keyOf({ branch: null })).not.toBe(keyOf({ branch: 'null' }))
  })

  it('differs however the same characters are split into project, branch and commit', () => {
    const names = fc.tuple(fc.nat().map(String), anyText(), fc.stringMatching(/^[0-9a-f]{1,40}$/))
    fc.assert(
      fc.property(names, names, (a, b) => {
        const [left, right] = [a, b].map(([project, branch, commit]) => keyOf({ project, branch, commit }))
        expect(left === right).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
    )
  })

  it.each(['メイン', 'ветка/исправление', 'الفرع', 'feature/🚀', '\ud83d', '"],["', 'a\u0000b'])(
    'accepts a branch in any script: %j',
    (branch) => {
      expect(keyOf({ branch })).not.toBe(keyOf({}))
      expect(keyOf({ branch })).toBe(keyOf({ branch, build: '513' }))
    },
  )

  it('differs between project ids beyond 2^53', () => {
    expect(keyOf({ project: '9007199254740993' })).not.toBe(keyOf({ project: '9007199254740992' }))
  })
})

describe('the key of a branch', () => {
  it('differs by project and by branch, also between a missing branch and any name', () => {
    const keys = [
      branchKey(projectId(WEB), 'main'),
      branchKey(projectId(WEB), 'Main'),
      branchKey(projectId(WEB), null),
      branchKey(projectId(WEB), 'null'),
      branchKey(projectId(WEB), ''),
      branchKey(projectId('42'), 'main'),
    ]
    expect(new Set(keys).size).toBe(keys.length)
    expect(branchKey(projectId(WEB), 'main')).toBe(keys[0])
  })
})
