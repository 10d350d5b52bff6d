import { expect, test } from 'vitest'
import { gitlabProjectId } from '../../../src/domain/ids.ts'
import type { GitlabClient } from '../../../src/sources/gitlab/client.ts'
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts'
import { projectOf } from '../../../src/sources/project.ts'

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
  expect(builds.map(({ id }) => id)).toEqual(refs.map((_, at) => String(refs.length - at)))
  if (branch === '!12') expect(new Set(builds.map((build) => build.branch))).toEqual(new Set(['!12']))
})
