import { expect, test } from 'vitest'
import { gitlabProjectId } from '../../../src/domain/ids.ts'
import type { GitlabClient } from '../../../src/sources/gitlab/client.ts'
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts'
import { projectOf } from '../../../src/sources/project.ts'
import { buildId } from '../../support/build-events.ts'

const ID = gitlabProjectId('71')

test.each([
  ['main', ['main']],
  ['!12', ['refs/merge-requests/12/head', 'refs/merge-requests/12/merge', 'refs/merge-requests/12/train']],
  [undefined, [undefined]],
])('for %s the pipelines are requested by their GitLab refs, and shown newest first', async (branch, refs) => {
  const asked: (string | undefined)[] = []
  const pipelines = new Map<string, unknown>()
  const client: Partial<GitlabClient> = {
    project: async () => ({ id: 71, path_with_namespace: 'acme/web' }),
    async pipelines(_, { ref } = {}) {
      const id = String(asked.push(ref))
      pipelines.set(id, { id, status: 'running', ref, sha: null })
      return [pipelines.get(id)]
    },
    pipeline: async (_, id) => pipelines.get(id),
  }
  const project = async () => projectOf(ID, { type: 'gitlab', name: 'acme/web', defaultBranch: 'main' })
  const source = createGitlabSource(client as GitlabClient, { project })
  const { builds } = await source.getProject!(ID, branch === undefined ? {} : { branch })
  expect(asked).toEqual(refs)
  expect(builds.map((build) => build.buildId)).toEqual(refs.map((_, at) => String(refs.length - at)))
  if (branch === '!12') expect(new Set(builds.map((build) => build.branch))).toEqual(new Set(['!12']))
})

test('the badge of a project that has another path than the stored one is not given', async () => {
  const project = async () => projectOf(ID, { type: 'gitlab', name: 'acme/web', defaultBranch: 'main' })
  const badge = (path: string) => {
    const shown = { id: 71, path_with_namespace: path, web_url: `https://git.example/${path}`, default_branch: 'main' }
    return createGitlabSource({ project: async () => shown } as Partial<GitlabClient> as GitlabClient, { project })
      .badge!(ID, null)
  }
  expect(await badge('acme/web')).toBe('https://git.example/acme/web/badges/main/pipeline.svg')
  expect(await badge('acme/prod-deploy')).toBeNull()
})

test('a child pipeline is no build that can be restarted or stopped', async () => {
  const client: Partial<GitlabClient> = {
    project: async () => ({ id: 71, path_with_namespace: 'acme/web' }),
    pipeline: async (_, id) => ({ id, status: 'failed', ref: 'main', source: id === '1' ? 'push' : 'parent_pipeline' }),
  }
  const source = createGitlabSource(client as GitlabClient, { project: async () => null })
  const read = (id: string) =>
    source.readBuild({
      projectId: ID,
      project: 'acme/web',
      projectUuid: null,
      buildId: buildId(id),
      buildUuid: null,
      branch: 'main',
      number: null,
      commit: null,
    })
  expect(await read('1')).toMatchObject({ project: { name: 'acme/web' }, event: { buildId: '1' } })
  expect(await read('2')).toBeNull()
})
