import { expect, test } from 'vitest'
import type { ProjectRef } from '../../../src/domain/ci-project/project-names.ts'
import { answerAction } from '../../../src/features/builds/action-messages.ts'
import { answerNotSent } from '../../../src/features/projects/messages.ts'
import { recordDelivery } from '../../../src/alerts/record/record.ts'
import { createSources } from '../../../src/runtime/clients.ts'
import { refreshSilent, SILENT_MS } from '../../../src/ci-sync/refresh-silent.ts'
import type { GitlabClient } from '../../../src/sources/gitlab/client.ts'
import { readPipeline } from '../../../src/sources/gitlab/pipeline.ts'
import { lin, openStage, type Stage } from '../operations-stage.ts'
import { findSummary } from '../../../src/ci-sync/ci-lookup.ts'

const PROJECT = {
  id: 71,
  path_with_namespace: 'acme/site',
  web_url: 'https://git.example/acme/site',
  default_branch: 'main',
}

/** GitLab has delivered this pipeline, in addition to the CI service's builds. */
async function deliver(
  { reconcile: { store, clock } }: Stage,
  id: string,
  { iid = 3, project = PROJECT, status = 'running' }: { iid?: number; project?: typeof PROJECT; status?: string } = {},
): Promise<void> {
  const pipeline = { id, iid, status, source: 'push', ref: 'main', sha: id.padStart(40, 'b') }
  await recordDelivery({ store, clock }, { ...readPipeline({ pipeline, project })!, body: '{}' })
  await clock.advance(5_000)
}

const at = (id: string): string => `https://git.example/acme/site/-/pipelines/${id}`

test('a pipeline is found by its address, even if a build of another source has its number', async () => {
  await using stage = await openStage()
  const { ref } = await stage.running()
  const find = (url: string) => findSummary(stage.main.deps, { kind: 'build-url', url })
  expect(await find(at(ref.buildId))).toMatchObject({ kind: 'unknown-build' })
  await deliver(stage, ref.buildId)
  for (const url of [at(ref.buildId), `${at(ref.buildId)}/builds`, `${at(ref.buildId)}?tab=jobs`])
    expect(await find(url)).toMatchObject({ kind: 'found', build: { ref: { projectId: 'gitlab:71' } } })
  expect(await find(at('3'))).toMatchObject({ kind: 'unknown-build' })
  // And the other way round: the CI service's build is found by its own address.
  expect(await find(`${stage.ci.url}/projects/11/builds/${ref.buildId}`)).toMatchObject({ build: { ref } })
  expect(await find('https://ci.example/acme/site/builds/3')).toMatchObject({ kind: 'unknown-address' })
  // A pipeline of another project, and one of another GitLab.
  expect(await find(`https://git.example/acme/other/-/pipelines/${ref.buildId}`)).toMatchObject({
    kind: 'unknown-build',
  })
  for (const host of ['https://x.test', 'https://git.example.x.test', 'https://git.example:8443'])
    expect(await find(`${host}/acme/site/-/pipelines/${ref.buildId}`)).toMatchObject({ kind: 'unknown-address' })
})

test("a number means the one that people see, not a pipeline's id, even if many projects have it", async () => {
  await using stage = await openStage()
  await deliver(stage, '31', { iid: 12 })
  await deliver(stage, '50', { iid: 31 })
  for (const id of [81, 82, 83, 84, 85, 86])
    await deliver(stage, String(id), { iid: 31, project: { ...PROJECT, id, path_with_namespace: `acme/site-${id}` } })
  const find = (number: string, project: string | null) =>
    findSummary(stage.main.deps, { kind: 'build-number', number, project })
  expect(await find('31', 'acme/site')).toMatchObject({ kind: 'found', build: { ref: { buildId: '50' } } })
  expect(await find('12', null)).toMatchObject({ kind: 'found', build: { ref: { buildId: '31' } } })
  expect(await find('50', null)).toMatchObject({ kind: 'unknown-build' })
})

test('a pipeline that passed cannot be restarted, and the answer says why', async () => {
  await using stage = await openStage()
  await deliver(stage, '31', { status: 'success' })
  const process = stage.another({ configured: { v2: true, legacy: true, gitlab: true } })
  const target = { kind: 'project', project: 'acme/site', branch: 'main' } as const
  const outcome = await process.operations.restart(target, lin())
  expect(outcome).toMatchObject({ kind: 'not-now' })
  const said = JSON.stringify(answerAction(outcome, { command: 'restart', branch: null, reference: 'abc' }))
  expect(said).toContain('GitLab runs the jobs again that failed, and this pipeline passed.')
})

test('a project of GitLab has no text that is true for the CI service only', () => {
  const project: ProjectRef = { projectId: 'gitlab:71', uuid: null, name: 'acme/site', type: 'gitlab' }
  const said = answerNotSent(
    { kind: 'not-listed', project },
    { command: 'project', branch: null, reference: 'abc' },
  ).text
  expect(said).toContain('It is a project of GitLab')
  expect(said).not.toContain('was deleted')
})

/** A process that also has GitLab, which shows a pipeline of the project 71 on the branch `topic`. */
function withGitlab(stage: Stage, path: string) {
  const shown = { id: '900', iid: 9, status: 'success', ref: 'topic', sha: 'c'.repeat(40), source: 'push' }
  const client = {
    project: async () => ({ ...PROJECT, path_with_namespace: path }),
    pipelines: async () => [shown],
    pipeline: async () => shown,
    commit: async () => ({ title: 'Rotate the keys', author_name: 'Grace' }),
    failedJobs: async () => [],
    failedBridges: async () => [],
  }
  const { v2, legacy } = stage.main.deps
  const clients = { v2, legacy, github: null, gitlab: client as unknown as GitlabClient }
  const sources = createSources(clients, stage.reconcile.store.read)
  return stage.another({ sources, configured: { v2: true, legacy: true, gitlab: true } })
}

test("a project that a delivery calls by another one's name is not shown under it when GitLab is asked", async () => {
  await using stage = await openStage()
  await deliver(stage, '31')
  const { operations } = withGitlab(stage, 'acme/prod-deploy')
  const status = await operations.status({ project: 'acme/site', branch: 'topic', channel: null })
  expect(JSON.stringify(status)).not.toMatch(/Rotate the keys|Grace|900/)
  expect(status).toMatchObject({ kind: 'no-project' })
  expect(
    (await stage.reconcile.store.read.deliveredProjects({ except: [] }, 'asc', 9)).map(({ name }) => name),
  ).toContain('acme/prod-deploy')
})

test("what GitLab shows of a build does not come to a card that has another project's name", async () => {
  await using stage = await openStage()
  await deliver(stage, '900')
  const { store, clock } = stage.reconcile
  const round = (path: string) =>
    refreshSilent({ ...withGitlab(stage, path).deps, store, clock, count: () => {} }, new AbortController().signal)
  await clock.advance(SILENT_MS)
  await round('acme/prod-deploy')
  expect(await store.read.eventsOfBuild('gitlab:71', '900')).toHaveLength(1)
  await clock.advance(SILENT_MS)
  await round('acme/site')
  expect(await store.read.eventsOfBuild('gitlab:71', '900')).toMatchObject([{}, { rawStatus: 'success' }])
})
