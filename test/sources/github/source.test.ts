import { expect, test } from 'vitest'
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
  expect(shown.builds.map(({ id }) => id)).toEqual(['9', '1'])
  expect(asked).toEqual(['acme/web 1', 'acme/web 2'])
})
