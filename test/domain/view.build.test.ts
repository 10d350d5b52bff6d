import { describe, expect, it } from 'vitest'
import { buildView, projectName } from '../../src/domain/build-view.ts'
import { COMMIT, attemptsOf } from '../support/build-events.ts'

const byAda = { message: 'fix login', committer: 'ada', projectName: 'web', shortCommitId: 'a1b2c3d' }

describe('the build in a view', () => {
  it('says what is known of it', () => {
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

  it('has nothing but its numbers when everything is missing', () => {
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

  it('shortens the commit where CI did not', () => {
    const [attempt] = attemptsOf('error')
    expect(buildView(attempt!, [attempt!]).commit).toBe(COMMIT.slice(0, 7))
  })

  it('takes what another attempt of the commit said of it, but not its address', () => {
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

  it('has the address of the build from its earlier attempt', () => {
    const buildUrl = 'https://ci.example/b/512'
    const attempts = attemptsOf({ word: 'initiated', details: { ...byAda, buildUrl } }, 'error', 'initiated')
    expect(attempts[1]!.details.buildUrl).toBeNull()
    expect(buildView(attempts[1]!, attempts).buildUrl).toBe(buildUrl)
  })

  it('prefers what the attempt itself said', () => {
    const attempts = attemptsOf(
      { word: 'error', details: byAda },
      { word: 'initiated', build: '513', details: { message: 'fix login, once more' } },
    )
    expect(buildView(attempts[1]!, attempts).message).toBe('fix login, once more')
    expect(buildView(attempts[0]!, attempts).message).toBe('fix login')
  })

  it('takes what only a repeated build event said of the attempt itself', () => {
    const [attempt] = attemptsOf('initiated', { word: 'initiated', details: byAda })
    expect(buildView(attempt!, [attempt!])).toMatchObject({ message: 'fix login', committer: 'ada', commit: 'a1b2c3d' })
  })

  // The attempt's own details know it; the name is taken from the build events that moved the attempt only.
  it('takes the name of the project that only a repeated build event said', () => {
    const [attempt] = attemptsOf('initiated', { word: 'initiated', details: byAda })
    expect(buildView(attempt!, [attempt!]).project).toBe('web')
  })

  // The same for what another attempt of the commit knows only by an echo of its own.
  it('takes what only a repeated build event said of another attempt of the commit', () => {
    const attempts = attemptsOf('error', { word: 'error', details: byAda }, { word: 'initiated', build: '513' })
    expect(buildView(attempts[1]!, attempts)).toMatchObject({ message: 'fix login', committer: 'ada' })
  })

  it.each(['メイン', 'ветка/исправление', 'feature/🚀', '<!channel>', 'a'.repeat(500)])(
    'leaves a branch as it is typed: %j',
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
    ['the path in another form', { ...unnamed, commitUrl: 'https://git.example/acme/web/-/commit/a1' }, 'acme/web'],
    ['the path in a third form', { ...unnamed, commitUrl: 'https://git.example/acme/web/commits/a1' }, 'acme/web'],
    ['its number', unnamed, 'project 9007199254740993'],
    [
      'its number, where the address has no path',
      { ...unnamed, commitUrl: 'https://git.example/' },
      'project 9007199254740993',
    ],
    ['its number, where the address is none', { ...unnamed, commitUrl: 'not an address' }, 'project 9007199254740993'],
    ['its number, where the address is empty', { ...unnamed, commitUrl: '' }, 'project 9007199254740993'],
    ['its name in any script', { ...unnamed, projectName: 'веб-会社' }, 'веб-会社'],
  ])('is %s', (_, details, name) => {
    expect(projectName(details, '9007199254740993')).toBe(name)
  })

  it.each<[claim: string, path: string, name: string]>([
    ['in any script', 'акме/веб/commit/a1', 'акме/веб'],
    ['where it is encoded', '%D0%B0%D0%BA%D0%BC%D0%B5/web/commit/a1', 'акме/web'],
    ['where it is encoded in a way that nothing decodes', 'acme/%E0%A4%A/commit/a1', 'acme/%E0%A4%A'],
    ['in a group within a group', 'acme/team/web/-/commit/a1', 'acme/team/web'],
    ['however deep it lies', 'acme/one/two/three/web/commits/a1', 'acme/one/two/three/web'],
    ['where nothing lies above it', 'web/commit/a1', 'web'],
    ['though a word in it begins like "commit"', 'acme/committee/commit/a1', 'acme/committee'],
  ])('is the path of its commits %s', (_, path, name) => {
    expect(projectName({ ...unnamed, commitUrl: `https://git.example/${path}` }, '41')).toBe(name)
  })

  it.each(['acme/web', 'acme/web/tree/main', 'commit/a1', 'acme/web/commit', 'acme/web/commitment/a1'])(
    'is not taken from an address that names no commit: %s',
    (path) => {
      expect(projectName({ ...unnamed, commitUrl: `https://git.example/${path}` }, '41')).toBe('project 41')
    },
  )

  // The name ends at the last "commit" of the address, not at the first: here the repository is called so itself.
  it('is the path of its commits, though the repository is called "commits"', () => {
    const details = { ...unnamed, commitUrl: 'https://git.example/acme/commits/commit/a1b2c3d' }
    expect(projectName(details, '41')).toBe('acme/commits')
  })
})
