import { expect, test } from 'vitest'
import { recordDelivery } from '../../src/alerts/record.ts'
import { askable } from '../../src/ci-clients.ts'
import type { ClientLegacy } from '../../src/sources/ci-service/client-legacy.ts'
import { createGithubBuilds } from '../../src/sources/github/builds.ts'
import type { GithubClient } from '../../src/sources/github/client.ts'
import { readRun } from '../../src/sources/github/run.ts'
import { MINUTE } from '../support/build-events.ts'
import { lin, openStage, type Process, type Stage } from './operations-stage.ts'

const REPOSITORY = { id: 1, full_name: 'acme/site', html_url: null, default_branch: 'main' }

const run = (more: object = {}) => ({
  id: 9_000_000_001,
  workflow_id: 77,
  name: 'CI',
  status: 'completed',
  conclusion: 'failure',
  event: 'push',
  head_branch: 'main',
  head_sha: 'b'.repeat(40),
  html_url: 'https://github.example/acme/site/actions/runs/9000000001',
  run_number: 512,
  run_attempt: 1,
  run_started_at: '2026-03-02T13:00:00Z',
  updated_at: '2026-03-02T13:10:00Z',
  repository: REPOSITORY,
  ...more,
})

/** GitHub has delivered this run, beside the CI service. */
async function deliver({ reconcile: { store, clock } }: Stage, shown: unknown): Promise<void> {
  await recordDelivery({ store, clock, wake: () => {} }, { ...readRun(shown, REPOSITORY)!, body: '{}' })
  await clock.advance(5_000)
}

test('the CI service is not asked for a workflow of GitHub’s', async () => {
  await using stage = await openStage()
  await deliver(stage, run())
  const before = stage.ci.calls().length
  expect(await stage.main.operations.projects.show('acme/site CI', lin())).toMatchObject({
    kind: 'not-listed',
    project: { name: 'acme/site CI', type: 'github' },
  })
  expect(stage.ci.calls()).toHaveLength(before)
})

test.each([
  'https://github.example/acme/site/actions/runs/9000000001',
  'https://github.example/acme/site/actions/runs/9000000001/attempts/1',
  'https://github.example/acme/site/actions/runs/9000000001/job/5?pr=1',
])('a run is found by its address %s', async (url) => {
  await using stage = await openStage()
  await deliver(stage, run())
  expect(await stage.main.operations.findBuild({ kind: 'build-url', url })).toMatchObject({
    kind: 'found',
    build: { ref: { buildId: '9000000001' } },
  })
})

/** The process has GitHub too, which shows these runs. */
function withGithub(stage: Stage, shown: readonly unknown[]): Process {
  const client = {
    runs: async () => ({ runs: [...shown], etag: null }),
  }
  const github = createGithubBuilds(client as unknown as GithubClient, stage.reconcile.store.read)
  const legacy = askable(stage.main.deps.legacy as ClientLegacy, github)
  return stage.another({ github, legacy, interfaces: { v2: true, legacy: true, github: true } })
}

test('a branch of which nothing was delivered is found by asking GitHub', async () => {
  await using stage = await openStage()
  await deliver(stage, run())
  const { operations } = withGithub(stage, [run({ id: 9_000_000_009, head_branch: 'topic', run_number: 520 })])
  const found = operations.findBuild({ kind: 'project', project: 'acme/site', branch: 'topic' })
  await stage.pass(MINUTE)
  expect(await found).toMatchObject({
    kind: 'found',
    build: { project: 'acme/site CI', buildId: '520', shown: 'failed' },
  })
})
