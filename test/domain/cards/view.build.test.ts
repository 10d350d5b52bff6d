import { describe, expect, it } from 'vitest'
import { buildView, projectName } from '../../../src/domain/cards/view.ts'
import { COMMIT, attemptsOf } from '../../support/build-events.ts'

const byAda = { message: 'fix login', committer: 'ada', projectName: 'web', shortCommitId: 'a1b2c3d' }

describe('the build in a view', () => {
  it('has everything that is known', () => {
    const [attempt] = attemptsOf({
      word: 'error',
      details: {
        ...byAda,
        buildUrl: 'https://ci.example/b/512',
        commitUrl: 'https://git.example/acme/web/commit/a1b2c3d',
      },
    })
    expect(buildView(attempt!, [attempt!])).toEqual({
      project: 'web',
      buildId: '512',
      branch: 'main',
      buildUrl: 'https://ci.example/b/512',
      commitUrl: 'https://git.example/acme/web/commit/a1b2c3d',
      commit: 'a1b2c3d',
      message: 'fix login',
      committer: 'ada',
    })
  })

  it('has only its numbers if nothing else is known', () => {
    const [attempt] = attemptsOf({ word: 'error', branch: null, commit: null })
    expect(buildView(attempt!, [attempt!])).toEqual({
      project: 'project 41',
      buildId: '512',
      branch: null,
      buildUrl: null,
      commitUrl: null,
      commit: null,
      message: null,
      committer: null,
    })
  })

  it('has a shortened commit id if CI gave none', () => {
    const [attempt] = attemptsOf('error')
    expect(buildView(attempt!, [attempt!]).commit).toBe(COMMIT.slice(0, 7))
  })

  it("takes missing details from another attempt of the commit, except the build's address", () => {
    const attempts = attemptsOf(
      { word: 'error', details: { ...byAda, buildUrl: 'https://ci.example/b/512' } },
      { word: 'initiated', build: '513' },
    )
    expect(buildView(attempts[1]!, attempts)).toMatchObject({
      project: 'web',
      buildId: '513',
      message: 'fix login',
      committer: 'ada',
      buildUrl: null,
    })
  })

  it('takes its address from an earlier attempt of the build', () => {
    const buildUrl = 'https://ci.example/b/512'
    const attempts = attemptsOf({ word: 'initiated', details: { ...byAda, buildUrl } }, 'error', 'initiated')
    expect(attempts[1]!.details.buildUrl).toBeNull()
    expect(buildView(attempts[1]!, attempts).buildUrl).toBe(buildUrl)
  })

  it("prefers the attempt's own details", () => {
    const attempts = attemptsOf(
      { word: 'error', details: byAda },
      { word: 'initiated', build: '513', details: { message: 'fix login, once more' } },
    )
    expect(buildView(attempts[1]!, attempts).message).toBe('fix login, once more')
    expect(buildView(attempts[0]!, attempts).message).toBe('fix login')
  })

  it('takes details from a repeated event', () => {
    const [attempt] = attemptsOf('initiated', { word: 'initiated', details: byAda })
    expect(buildView(attempt!, [attempt!])).toMatchObject({ message: 'fix login', committer: 'ada', commit: 'a1b2c3d' })
  })

  // The project's name is taken from the attempt's details, since the repeated event is not among its build events.
  it("takes the project's name from a repeated event", () => {
    const [attempt] = attemptsOf('initiated', { word: 'initiated', details: byAda })
    expect(buildView(attempt!, [attempt!]).project).toBe('web')
  })

  // The same for a repeated event of another attempt of the commit.
  it('takes details from a repeated event of another attempt', () => {
    const attempts = attemptsOf('error', { word: 'error', details: byAda }, { word: 'initiated', build: '513' })
    expect(buildView(attempts[1]!, attempts)).toMatchObject({ message: 'fix login', committer: 'ada' })
  })

  it.each(['メイン', 'ветка/исправление', 'feature/🚀', '<!channel>', 'a'.repeat(500)])(
    'keeps a branch unchanged: %j',
    (branch) => {
      const [attempt] = attemptsOf({ word: 'error', branch })
      expect(buildView(attempt!, [attempt!]).branch).toBe(branch)
    },
  )
})

describe('the name of a project', () => {
  const unnamed = { projectName: null, projectFullName: null, commitUrl: null }
  const commitUrl = 'https://git.example/acme/web/commit/a1b2c3d'

  it.each([
    ['its name', { projectName: 'web', projectFullName: 'acme/web', commitUrl }, 'web'],
    ['its full name', { ...unnamed, projectFullName: 'acme/web', commitUrl }, 'acme/web'],
    ['the path of its commits', { ...unnamed, commitUrl }, 'acme/web'],
    ['the path in a second form', { ...unnamed, commitUrl: 'https://git.example/acme/web/-/commit/a1' }, 'acme/web'],
    ['the path in a third form', { ...unnamed, commitUrl: 'https://git.example/acme/web/commits/a1' }, 'acme/web'],
    ['its number', unnamed, 'project 9007199254740993'],
    [
      'its number, if the address has no path',
      { ...unnamed, commitUrl: 'https://git.example/' },
      'project 9007199254740993',
    ],
    ['its number, if the address is invalid', { ...unnamed, commitUrl: 'not an address' }, 'project 9007199254740993'],
    ['its number, if the address is empty', { ...unnamed, commitUrl: '' }, 'project 9007199254740993'],
    ['its name in any script', { ...unnamed, projectName: 'веб-会社' }, 'веб-会社'],
  ])('is %s', (_, details, name) => {
    expect(projectName(details, '9007199254740993')).toBe(name)
  })

  it.each<[claim: string, path: string, name: string]>([
    ['in any script', 'акме/веб/commit/a1', 'акме/веб'],
    ['with encoded characters', '%D0%B0%D0%BA%D0%BC%D0%B5/web/commit/a1', 'акме/web'],
    ['with invalid encoding', 'acme/%E0%A4%A/commit/a1', 'acme/%E0%A4%A'],
    ['within a subgroup', 'acme/team/web/-/commit/a1', 'acme/team/web'],
    ['at any depth', 'acme/one/two/three/web/commits/a1', 'acme/one/two/three/web'],
    ['without a group', 'web/commit/a1', 'web'],
    ['with a word that starts like "commit"', 'acme/committee/commit/a1', 'acme/committee'],
  ])('is the path of its commits %s', (_, path, name) => {
    expect(projectName({ ...unnamed, commitUrl: `https://git.example/${path}` }, '41')).toBe(name)
  })

  it.each(['acme/web', 'acme/web/tree/main', 'commit/a1', 'acme/web/commit', 'acme/web/commitment/a1'])(
    'is not taken from an address without a commit: %s',
    (path) => {
      expect(projectName({ ...unnamed, commitUrl: `https://git.example/${path}` }, '41')).toBe('project 41')
    },
  )

  // The name ends at the last "commit" of the address, not at the first: this repository itself is called "commits".
  it('is the path of its commits even if the repository is called "commits"', () => {
    const details = { ...unnamed, commitUrl: 'https://git.example/acme/commits/commit/a1b2c3d' }
    expect(projectName(details, '41')).toBe('acme/commits')
  })
})
