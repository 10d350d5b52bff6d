import { Gitlab } from '@gitbeaker/rest'
import { describe, expect, test, vi } from 'vitest'
import type { SandboxGitlab } from '../src/server.ts'
import { pipelineOf, pushed, startGitlab } from './support.ts'

/** A third-party client. */
function clientOf(gitlab: SandboxGitlab, how: { host?: string; token?: string } = {}) {
  const { url, token } = gitlab.address()
  return new Gitlab({ host: url, token, ...how })
}

describe('a third-party client', () => {
  test('finds the project by its path or id, its commit, its webhook and its own scopes', async () => {
    const gitlab = await startGitlab({ webhookUrl: 'http://127.0.0.1:9/hook' })
    const client = clientOf(gitlab)
    const project = await client.Projects.show('acme/tools/ios')
    expect(project).toMatchObject({ path_with_namespace: 'acme/tools/ios', default_branch: 'main' })
    const { sha } = pushed(gitlab, { outcome: 'none', message: 'Fix login\n\nAt last.' }, 'acme/tools/ios')
    const commit = await client.Commits.show(project.id, sha)
    expect(commit).toMatchObject({ short_id: sha.slice(0, 8), title: 'Fix login', author_email: 'ada@acme.example' })
    expect(await client.ProjectHooks.all(project.id)).toMatchObject([
      { alert_status: 'executable', disabled_until: null },
    ])
    expect(await client.PersonalAccessTokens.show()).toMatchObject({ scopes: ['api'] })
    await expect(client.Projects.show('acme/none')).rejects.toThrow('404 Project Not Found')
    await expect(client.Pipelines.show('acme/web', 1)).rejects.toThrow('404 Not found')
    await expect(client.Commits.show('acme/web', 'a'.repeat(40))).rejects.toThrow('404 Commit Not Found')
  })

  test('lists pipelines over several pages, by ref, status and time of change, without children', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const ids = Array.from({ length: 5 }, () => pushed(gitlab, { outcome: 'none' }).id)
    const child = pushed(gitlab, { outcome: 'none', parent: ids[0]! })
    const idsBy = async (query: object) => (await client.Pipelines.all('acme/web', query)).map(({ id }) => id)
    expect(await idsBy({ perPage: 2 })).toEqual(ids.toReversed())
    expect(await idsBy({ perPage: 2, page: 2, maxPages: 1, sort: 'asc' })).toEqual(ids.slice(2, 4))
    expect(await idsBy({ source: 'parent_pipeline' })).toEqual([child.id])
    const { updated_at } = await client.Pipelines.show('acme/web', ids.at(-1)!)
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(updated_at)))
    gitlab.finish(ids[1]!, 'failed')
    expect(await idsBy({ updatedAfter: updated_at, orderBy: 'updated_at' })).toEqual([ids[1]])
    expect(await idsBy({ status: 'failed' })).toEqual([ids[1]])
    expect(await idsBy({ ref: 'dev' })).toEqual([])
    const { url, token } = gitlab.address()
    const page = `${url}/api/v4/projects/acme%2Fweb/pipelines?per_page=2&page=3`
    const { headers } = await fetch(page, { headers: { 'private-token': token } })
    expect(['x-total', 'x-page', 'x-per-page', 'x-next-page'].map((name) => headers.get(name))).toEqual([
      '5',
      '3',
      '2',
      '',
    ])
  })

  test('retries under the same id: failed jobs are replaced, and finished_at stays until the next end', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const failedJobs = ['unit', { name: 'e2e', reason: 'runner_system_failure' }]
    const { id } = pushed(gitlab, { outcome: 'failed', ms: 0, failedJobs })
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('failed'))
    const before = await client.Pipelines.show('acme/web', id)
    const jobs = await client.Jobs.all('acme/web', { pipelineId: id, scope: 'failed' })
    expect(jobs.map(({ name, failure_reason }) => [name, failure_reason])).toEqual([
      ['e2e', 'runner_system_failure'],
      ['unit', 'script_failure'],
    ])
    const { started_at, finished_at } = before
    gitlab.setSwitches({ cancelingMs: 0 })
    expect(gitlab.retry(id, { outcome: 'none' })).toMatchObject({ kind: 'changed' })
    expect(await client.Pipelines.show('acme/web', id)).toMatchObject({ status: 'running', started_at, finished_at })
    expect(await client.Pipelines.cancel('acme/web', id)).toMatchObject({ status: 'canceling' })
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('canceled'))
    expect(await client.Pipelines.retry('acme/web', id)).toMatchObject({ id, status: 'running' })
    await vi.waitFor(() => expect(pipelineOf(gitlab, id)).toMatchObject({ status: 'success', retries: 2 }))
    const after = await client.Pipelines.show('acme/web', id)
    expect(Date.parse(after.finished_at)).toBeGreaterThan(Date.parse(before.finished_at))
    const all = await client.Jobs.all('acme/web', { pipelineId: id, includeRetried: true })
    expect(all.filter(({ name }) => name === 'unit').map(({ status }) => status)).toEqual([
      'success',
      'canceled',
      'failed',
    ])
    expect(await client.Jobs.all('acme/web', { pipelineId: id })).toHaveLength(4)
  })

  test('starts the manual job that a pipeline waits for; there is nothing to cancel or retry, which is no error', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const { id } = pushed(gitlab, { needsManual: true, ms: 0 })
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('manual'))
    expect(await client.Pipelines.cancel('acme/web', id)).toMatchObject({ status: 'manual' })
    const [job, unit] = await client.Jobs.all('acme/web', { pipelineId: id })
    await client.Jobs.play('acme/web', job!.id)
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('success'))
    expect(await client.Pipelines.cancel('acme/web', id)).toMatchObject({ status: 'success' })
    expect(await client.Pipelines.retry('acme/web', id)).toMatchObject({ status: 'success' })
    await expect(client.Jobs.play('acme/web', unit!.id)).rejects.toThrow('400 Bad request - Unplayable Job')
    expect(gitlab.calls().map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 201, 400])
  })

  test('starts a manual job that has run once more, as a job of its own', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const { id } = pushed(gitlab, { needsManual: true, ms: 0 })
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('manual'))
    gitlab.play(id)
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('success'))
    const [release] = await client.Jobs.all('acme/web', { pipelineId: id })
    expect(await client.Jobs.play('acme/web', release!.id)).toMatchObject({ id: release!.id, status: 'success' })
    await vi.waitFor(() => expect(pipelineOf(gitlab, id)).toMatchObject({ status: 'success', retries: 1 }))
    const [again] = await client.Jobs.all('acme/web', { pipelineId: id })
    expect(again).toMatchObject({ name: 'release', status: 'success' })
    expect(again!.id).toBeGreaterThan(release!.id)
    await expect(client.Jobs.play('acme/web', release!.id)).rejects.toThrow('Unplayable Job')
  })

  test('cancels what would follow a manual job, which the pipeline still waits for', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const jobs = [{ name: 'unit' }, { name: 'approve', stage: 'gate', manual: true }, { name: 'deploy', stage: 'last' }]
    const { id } = pushed(gitlab, { jobs, ms: 0 })
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('manual'))
    expect(pipelineOf(gitlab, id).jobs.map(({ status }) => status)).toEqual(['success', 'manual', 'created'])
    expect(await client.Pipelines.cancel('acme/web', id)).toMatchObject({ status: 'manual' })
    expect(pipelineOf(gitlab, id).jobs.map(({ status }) => status)).toEqual(['success', 'manual', 'canceled'])
  })

  test('may not retry, cancel or start anything on a protected branch', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const { id } = pushed(gitlab, { outcome: 'none', jobs: [{ name: 'deploy', manual: true }] })
    gitlab.advance(id, 'manual')
    const [job] = await client.Jobs.all('acme/web', { pipelineId: id })
    gitlab.setSwitches({ isBranchProtected: true })
    for (const act of [
      () => client.Pipelines.retry('acme/web', id),
      () => client.Pipelines.cancel('acme/web', id),
      () => client.Jobs.play('acme/web', job!.id),
    ])
      await expect(act()).rejects.toThrow('403 Forbidden')
    expect(pipelineOf(gitlab, id)).toMatchObject({ status: 'manual', retries: 0 })
  })

  test('cannot cancel what another CI service reports: GitLab answers 200, and it runs on', async () => {
    const gitlab = await startGitlab()
    const { id } = pushed(gitlab, { source: 'external', outcome: 'none' })
    expect(await clientOf(gitlab).Pipelines.cancel('acme/web', id)).toMatchObject({ status: 'running' })
  })

  test('gets trigger jobs apart from builds, with what they started; a retry leaves them out', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const jobs = [{ name: 'unit' }, { name: 'deploy', trigger: true }, { name: 'docs', trigger: true }]
    const { id } = pushed(gitlab, { outcome: 'none', jobs })
    const child = pushed(gitlab, { outcome: 'none', parent: id, parentJob: 'docs' })
    const elsewhere = pushed(gitlab, { outcome: 'none', parent: id, parentJob: 'deploy' }, 'acme/api')
    gitlab.finish(id, 'failed', [{ name: 'deploy', reason: 'downstream_pipeline_creation_failed' }])
    const namesOf = (all: readonly { name: string }[]) => all.map(({ name }) => name)
    expect(namesOf(await client.Jobs.all('acme/web', { pipelineId: id }))).toEqual(['unit'])
    const bridges = await client.Jobs.allPipelineBridges('acme/web', id)
    expect(bridges).toMatchObject([
      { name: 'docs', downstream_pipeline: { id: child.id, project_id: 71, source: 'parent_pipeline' } },
      {
        name: 'deploy',
        status: 'failed',
        downstream_pipeline: { id: elsewhere.id, project_id: 72, source: 'pipeline' },
      },
    ])
    expect(bridges[1]).toMatchObject({ failure_reason: 'downstream_pipeline_creation_failed' })
    expect(namesOf(await client.Jobs.allPipelineBridges('acme/web', id, { scope: 'failed' }))).toEqual(['deploy'])
    expect(await client.Pipelines.retry('acme/web', id)).toMatchObject({ status: 'failed' })
  })

  test('reads what a job has written, and which tests it has reported', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const { id, jobs } = pushed(gitlab, {
      outcome: 'none',
      jobs: [
        { name: 'unit', log: 'Running with gitlab-runner 19.1.0\n' },
        { name: 'deploy', trigger: true },
      ],
      tests: [
        { name: 'sums', seconds: 0.25 },
        { name: 'redirects', status: 'failed', output: 'Failed test' },
      ],
    })
    expect(await client.Jobs.showLog('acme/web', jobs[0]!.id)).toBe('Running with gitlab-runner 19.1.0\n')
    await expect(client.Jobs.showLog('acme/web', jobs[1]!.id)).rejects.toThrow('404 Not found')
    const suite = { name: 'unit', total_count: 2, success_count: 1, failed_count: 1, total_time: 0.25 }
    expect(await client.Pipelines.showTestReport('acme/web', id)).toMatchObject({
      total_count: 2,
      test_suites: [{ ...suite, test_cases: [{ name: 'sums' }, { name: 'redirects', system_output: 'Failed test' }] }],
    })
    const summary = await client.Pipelines.showTestReportSummary('acme/web', id)
    expect(summary).toMatchObject({
      total: { count: 2, failed: 1, time: 0.25 },
      test_suites: [{ ...suite, build_ids: [jobs[0]!.id] }],
    })
    expect(summary.test_suites![0]).not.toHaveProperty('test_cases')
  })

  test('is refused a query with a value that GitLab does not know', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const { id } = pushed(gitlab, { outcome: 'none' })
    const ask = (query: object) => client.Pipelines.all('acme/web', query)
    await expect(ask({ status: 'red' })).rejects.toThrow('status does not have a valid value')
    await expect(ask({ source: 'moonlight' })).rejects.toThrow('source does not have a valid value')
    await expect(ask({ orderBy: 'colour' })).rejects.toThrow('order_by does not have a valid value')
    const scope = 'red' as 'failed'
    await expect(client.Jobs.all('acme/web', { pipelineId: id, scope })).rejects.toThrow('scope does not have')
  })

  test('gets errors with a wrong token, with a read-only one for a write, and without the prefix', async () => {
    const gitlab = await startGitlab()
    const { id } = pushed(gitlab, { outcome: 'none' })
    await expect(clientOf(gitlab, { token: 'wrong' }).Projects.show('acme/web')).rejects.toThrow('401 Unauthorized')
    const reader = clientOf(gitlab, { token: gitlab.address().readToken })
    expect(await reader.Pipelines.show('acme/web', id)).toMatchObject({ detailed_status: { label: 'running' } })
    await expect(reader.Pipelines.cancel('acme/web', id)).rejects.toThrow('insufficient_scope')
    expect(pipelineOf(gitlab, id).status).toBe('running')
    await expect(clientOf(gitlab, { host: gitlab.url }).Projects.show('acme/web')).rejects.toThrow('404 Not Found')
  })

  // This client also retries writes, and ignores Retry-After: ten retries within 0.3 s.
  test('retries a rate-limited call, even a write', async () => {
    const gitlab = await startGitlab()
    const { id } = pushed(gitlab, { outcome: 'none' })
    gitlab.limit({ calls: 1, retryAfterS: 30 })
    await clientOf(gitlab).Pipelines.cancel('acme/web', id)
    expect(gitlab.calls().map(({ method, statusCode }) => `${method} ${statusCode}`)).toEqual(['POST 429', 'POST 200'])
    gitlab.limit({ calls: 1, retryAfterS: 30 })
    expect((await fetch(`${gitlab.address().url}/api/v4/projects/71`)).headers.get('retry-after')).toBe('30')
  })

  test('gets failures and an outage on request', async () => {
    const gitlab = await startGitlab()
    gitlab.failNext(1, 500)
    await expect(clientOf(gitlab).Projects.show('acme/web')).rejects.toThrow('500 on demand')
    gitlab.setSwitches({ isDown: true })
    await expect(clientOf(gitlab).Projects.show('acme/web')).rejects.toThrow('fetch failed')
    gitlab.setSwitches({ isDown: false })
    expect(await clientOf(gitlab).Projects.show('acme/web')).toMatchObject({ id: 71 })
  })
})

test('the badge of a branch shows its newest pipeline, without a token', async () => {
  const gitlab = await startGitlab()
  const badge = async (branch: string) =>
    (await fetch(`${gitlab.address().url}/acme/tools/ios/badges/${branch}/pipeline.svg?ignore_skipped=true`)).text()
  expect(await badge('main')).toContain('>unknown<')
  gitlab.finish(pushed(gitlab, { branch: 'fix/login', outcome: 'none' }, 'acme/tools/ios').id, 'success')
  pushed(gitlab, { branch: 'fix/login', outcome: 'skipped' }, 'acme/tools/ios')
  expect(await badge('fix/login')).toContain('>passed<')
})
