import { expect, test } from 'vitest'
import { recordDelivery } from '../../../src/alerts/record/record.ts'
import { createSources } from '../../../src/runtime/clients.ts'
import { githubProjectId } from '../../../src/domain/ids.ts'
import { fieldOf } from '../../../src/lib/raw-values.ts'
import { createFeatures } from '../../../src/features/features.ts'
import { confirmRequests } from '../../../src/features/builds/confirm.ts'
import { CiError } from '../../../src/sources/http/errors.ts'
import type { GithubClient } from '../../../src/sources/github/client.ts'
import { readRun } from '../../../src/sources/github/run.ts'
import { buildId, MINUTE } from '../../support/build-events.ts'
import { lin, ofAttempt, openStage, type Process, type Stage } from '../operations-stage.ts'
import { ada, BUILDS, openStage as openSlack } from '../kit/stage.ts'
import { showProject } from '../../../src/features/projects/read.ts'
import { findSummary } from '../../../src/ci-sync/ci-lookup.ts'

const REPOSITORY = { id: 1, full_name: 'acme/site', html_url: null, default_branch: 'main' }

const run = (more: object = {}) => ({
  id: 9_000_000_001,
  workflow_id: 77,
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

/** GitHub has delivered this run, in addition to the CI service's builds. */
async function deliver({ reconcile: { store, clock } }: Stage, shown: unknown): Promise<void> {
  await recordDelivery({ store, clock }, { ...readRun(shown, REPOSITORY, { name: 'CI' })!, body: '{}' })
  await clock.advance(5_000)
}

test('the CI service is not called about a workflow of GitHub', async () => {
  await using stage = await openStage()
  await deliver(stage, run())
  const before = stage.ci.calls().length
  expect(await showProject(stage.main.deps, 'acme/site CI', lin())).toMatchObject({
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
  expect(await findSummary(stage.main.deps, { kind: 'build-url', url })).toMatchObject({
    kind: 'found',
    build: { ref: { buildId: '9000000001' } },
  })
})

test.each([
  ['of another repository', 'https://github.example/acme/other/actions/runs/9000000001', 'unknown-build'],
  ['of another run', 'https://github.example/acme/site/actions/runs/9000000002', 'unknown-build'],
  ['of another host', 'https://x.test/acme/site/actions/runs/9000000001', 'unknown-address'],
])('an address %s is not that of a run', async (_, url, kind) => {
  await using stage = await openStage()
  await deliver(stage, run())
  expect(await findSummary(stage.main.deps, { kind: 'build-url', url })).toEqual({ kind, text: url })
})

/** A process that also has GitHub, which shows these runs and does not answer a rerun. */
function withGithub(stage: Stage, shown: readonly unknown[]): Process {
  const client = {
    runs: async () => ({ runs: [...shown], etag: null }),
    run: async (_: string, id: string) => shown.find((one) => String(fieldOf(one, 'id')) === id),
    repository: async () => REPOSITORY,
    workflow: async () => ({ name: 'CI' }),
    cancel: async () => {},
    rerun: async () => {
      throw new CiError({ kind: 'timeout', purpose: 'run a workflow again', isWrite: true })
    },
  }
  const { v2, legacy } = stage.main.deps
  const clients = { v2, legacy, github: client as unknown as GithubClient, gitlab: null }
  const sources = createSources(clients, stage.reconcile.store.read)
  const process = stage.another({ sources, configured: { v2: true, legacy: true, github: true } })
  return { ...process, confirm: () => confirmRequests(process.deps) }
}

test('a branch without deliveries is found by asking GitHub', async () => {
  await using stage = await openStage()
  await deliver(stage, run())
  const { deps } = withGithub(stage, [run({ id: 9_000_000_009, head_branch: 'topic', run_number: 520 })])
  const found = findSummary(deps, { kind: 'project', project: 'acme/site', branch: 'topic' })
  await stage.pass(MINUTE)
  expect(await found).toMatchObject({
    kind: 'found',
    build: { project: 'acme/site CI', buildId: '520', shown: 'failed' },
  })
})

test('a newer run of the same commit is not taken for the rerun whose answer was lost', async () => {
  await using stage = await openStage()
  await deliver(stage, run())
  const newer = run({
    id: 9_000_000_009,
    status: 'in_progress',
    conclusion: null,
    run_started_at: new Date(stage.clock.now() + 1_000).toISOString(),
  })
  const process = withGithub(stage, [newer, run()])
  const ref = { projectId: githubProjectId('1', '77'), buildId: buildId('9000000001'), attempt: 1 }
  expect(await process.operations.restart(ofAttempt(ref), lin())).toMatchObject({ kind: 'unclear' })
  await deliver(stage, newer)
  await stage.pass(3 * MINUTE, process)
  expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'not-restarted' }])
})

test('the shortcut to stop a queued run says why it cannot, or shows that a stop was requested', async () => {
  await using behind = await openStage()
  await deliver(behind, run())
  const queued = run({ run_attempt: 2, status: 'queued', conclusion: null })
  await deliver(behind, queued)
  const { ts } = behind.reconcile.slack.messages.findLast(({ view }) => view.kind === 'card')!
  const shown = async ({ deps }: Process, user: string) => {
    const { store, permits } = deps
    const { slack, untilTold } = await openSlack({ store, permits, features: createFeatures(deps) })
    const body = { type: 'message_action', callback_id: 'stop_build', user: { id: user }, channel: { id: BUILDS } }
    await slack.sender.send({
      what: 'a shortcut',
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({ payload: JSON.stringify({ ...body, message: { ts } }) }).toString(),
    })
    return (await untilTold(1, user))[0]
  }
  expect(await shown(behind.main, ada)).toContain('GITHUB_TOKEN')
  const process = withGithub(behind, [queued])
  const ref = { projectId: githubProjectId('1', '77'), buildId: buildId('9000000001'), attempt: 2 }
  const stopping = process.operations.stop(ofAttempt(ref), lin())
  await behind.pass(MINUTE)
  expect(await stopping).toMatchObject({ kind: 'requested' })
  const requested = await shown(process, lin().user)
  expect(requested).toMatch(/Queued.*#512/)
  expect(requested).not.toContain('not stopped')
})
