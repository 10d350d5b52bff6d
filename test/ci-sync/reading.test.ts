import { expect, test } from 'vitest'
import { v2 } from '../../packages/sandbox-ci/test/support.ts'
import { openStage } from '../features/operations-stage.ts'

test('no secrets of a project are stored, neither variables nor keys', async () => {
  await using stage = await openStage()
  await v2(stage.ci, 'POST', '/projects', {
    repository_url: 'git@git.example:acme/site.git',
    type: 'basic',
    team_ids: [1],
    environment_variables: [{ name: 'TOKEN', value: 'canary-of-a-variable' }],
  })
  await stage.main.deps.refresh()
  const held = JSON.stringify(stage.reconcile.sql('select * from project'))
  expect(held).toContain('acme/site')
  const secrets = ['canary-of-a-variable', ...stage.ci.state().projects.flatMap((project) => project.aes_key ?? [])]
  expect(secrets.filter((secret) => held.includes(secret))).toEqual([])
})
