import { describe, expect, test } from 'vitest'
import { githubProjectId } from '../../../src/domain/ids.ts'
import { CiError } from '../../../src/sources/http/errors.ts'
import type { GithubClient } from '../../../src/sources/github/client.ts'
import { createGithubSource } from '../../../src/sources/github/source.ts'
import { projectOf } from '../../../src/sources/project.ts'
import { buildId } from '../../support/build-events.ts'

const ID = githubProjectId('1', '77')

const run = (id: number) => ({
  id,
  workflow_id: 77,
  status: 'in_progress',
  head_branch: 'main',
  repository: { id: 1, full_name: 'acme/web' },
})

test('a run that newer ones have pushed out of the list is shown if it is requested, and a deleted run is not', async () => {
  const asked: string[] = []
  const client: Partial<GithubClient> = {
    runs: async () => ({ runs: [run(9)], etag: null }),
    async run(repository, id) {
      asked.push(`${repository} ${id}`)
      if (id === '2') throw new CiError({ kind: 'not-found', purpose: 'read a run', status: 404 })
      return run(Number(id))
    },
  }
  const project = async () => projectOf(ID, { type: 'github', name: 'acme/web CI', defaultBranch: 'main' })
  const source = createGithubSource(client as GithubClient, { project })
  const shown = await source.getProject!(ID, { branch: 'main', builds: ['1', '2', '9'].map(buildId) })
  expect(shown.builds.map((build) => build.buildId)).toEqual(['9', '1'])
  expect(asked).toEqual(['acme/web 1', 'acme/web 2'])
})

/** The source, with a project whose stored name is that of another repository. */
function forged(client: Partial<GithubClient>) {
  const project = async () => projectOf(ID, { type: 'github', name: 'acme/prod-deploy CI', defaultBranch: 'main' })
  return createGithubSource(client as GithubClient, { project })
}

const OTHER = { id: 2, full_name: 'acme/prod-deploy', default_branch: 'main' }

test('runs that GitHub says are of another repository, or of another workflow, are not shown', async () => {
  const runs = [{ ...run(1), repository: OTHER }, { ...run(2), workflow_id: 78 }, run(3)]
  const source = forged({
    runs: async () => ({ runs, etag: null }),
    run: async (_, id) => ({ ...run(Number(id)), repository: OTHER }),
  })
  const shown = await source.getProject!(ID, { builds: ['4'].map(buildId) })
  expect(shown.builds.map((build) => build.buildId)).toEqual(['3'])
  expect(shown.name).toBe('acme/web CI')
})

test('the badge of another repository is not given', async () => {
  const badge_url = 'https://github.example/acme/prod-deploy/actions/workflows/ci.yml/badge.svg'
  const source = forged({ repository: async () => OTHER, workflow: async () => ({ badge_url }) })
  expect(await source.badge!(ID, 'main')).toBeNull()
})

describe('a build is read', () => {
  const WEB = { id: 1, full_name: 'acme/web', default_branch: 'main' }
  const seen = {
    projectId: ID,
    project: 'acme/web CI',
    projectUuid: null,
    buildId: buildId('5'),
    buildUuid: null,
    branch: 'main',
    number: null,
    commit: null,
  }
  const asked: string[] = []
  const source = (changes: Partial<GithubClient> = {}) =>
    forged({
      repository: async (name) => (asked.push(`repository ${name}`), WEB),
      run: async (name, id) => (asked.push(`run ${name} ${id}`), run(Number(id))),
      workflow: async (name, id) => (asked.push(`workflow ${name} ${id}`), { name: 'CI' }),
      ...changes,
    })

  test('in the repository that the person saw, whatever name is stored', async () => {
    const read = await source().readBuild(seen)
    expect(read).toMatchObject({ project: { name: 'acme/web CI' }, event: { projectId: ID, buildId: '5' } })
    expect(asked.toSorted()).toEqual(['repository acme/web', 'run acme/web 5', 'workflow acme/web 77'])
  })

  test.each([
    ['the repository', { repository: gone }],
    ['the run', { run: gone }],
  ])('as none if GitHub does not have %s', async (_, changes) => {
    expect(await source(changes).readBuild(seen)).toBeNull()
  })

  test('as none if another repository got the name meanwhile', async () => {
    expect(await source({ repository: async () => OTHER }).readBuild(seen)).toBeNull()
  })

  test('as none under a name that is none', async () => {
    asked.length = 0
    for (const project of ['project github:1:77', '../web CI', ''])
      expect(await source().readBuild({ ...seen, project })).toBeNull()
    expect(asked).toEqual([])
  })

  test('or not, if GitHub does not answer or refuses', async () => {
    for (const kind of ['server', 'timeout', 'forbidden', 'unauthorized', 'rate-limited'] as const) {
      const failing = async () => {
        throw new CiError({ kind, purpose: 'read a run' })
      }
      await expect(source({ run: failing }).readBuild(seen)).rejects.toMatchObject({ kind })
    }
  })
})

async function gone(): Promise<never> {
  throw new CiError({ kind: 'not-found', purpose: 'read a run', status: 404 })
}
