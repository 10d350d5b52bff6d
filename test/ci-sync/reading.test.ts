import { expect, test } from 'vitest'
import { v2 } from '../../packages/sandbox-ci/test/support.ts'
import { openStage, type Stage } from '../features/operations-stage.ts'

async function create(stage: Stage, fields: object): Promise<void> {
  const project = { repository_url: 'git@git.example:acme/site.git', type: 'basic', team_ids: [1], ...fields }
  await v2(stage.ci, 'POST', '/projects', project)
  await stage.main.deps.refresh()
}

const filterOf = async (stage: Stage, name = 'acme/site') =>
  (await stage.reconcile.store.read.project({ uuid: null, legacyId: '', names: [name] }))?.filter

test('the branch filter of a project is stored as CI has it', async () => {
  await using stage = await openStage()
  await create(stage, { branch_match: 'exclude', branches: ['dev', '^tmp/.*$'] })
  expect(await filterOf(stage)).toEqual({ mode: 'exclude', entries: ['dev', '^tmp/.*$'] })
  expect(await filterOf(stage, 'acme/web')).toEqual({ mode: 'include', entries: [] })
})

test('the branch filter stays as it was while CI is away', async () => {
  await using stage = await openStage()
  await create(stage, { branches: ['main'] })
  stage.ci.addFault({ kind: 'status', statusCode: 503, where: 'v2', times: 100 })
  expect((await stage.main.deps.refresh()).failure).not.toBeNull()
  expect(await filterOf(stage)).toMatchObject({ entries: ['main'] })
})

test('the branch filter is unknown if only the legacy interface is configured', async () => {
  await using stage = await openStage({ v2: false })
  expect(await filterOf(stage, 'acme/web')).toBeNull()
})

test('nothing else of a project is stored, neither variables nor keys', async () => {
  await using stage = await openStage()
  await create(stage, { environment_variables: [{ name: 'TOKEN', value: 'canary-of-a-variable' }] })
  expect(await filterOf(stage)).not.toBeUndefined()
  const held = JSON.stringify(stage.reconcile.sql('select * from project'))
  expect(held).toContain('acme/site')
  const secrets = ['canary-of-a-variable', ...stage.ci.state().projects.flatMap((project) => project.aes_key ?? [])]
  expect(secrets.filter((secret) => held.includes(secret))).toEqual([])
})
