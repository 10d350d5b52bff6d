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
    await expect(client.Pipelines.show('acme/web', 1)).rejects.toThrow('Not Found')
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

  test('starts the manual job that a pipeline waits for, once; then there is nothing to cancel or retry', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const { id } = pushed(gitlab, { needsManual: true, ms: 0 })
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('manual'))
    const [job] = await client.Jobs.all('acme/web', { pipelineId: id, scope: 'manual' })
    await client.Jobs.play('acme/web', job!.id)
    await vi.waitFor(() => expect(pipelineOf(gitlab, id).status).toBe('success'))
    await expect(client.Jobs.play('acme/web', job!.id)).rejects.toThrow('Unplayable Job')
    await client.Pipelines.cancel('acme/web', id)
    expect(await client.Pipelines.retry('acme/web', id)).toMatchObject({ status: 'success' })
    expect(gitlab.calls().map(({ statusCode }) => statusCode)).toEqual([200, 200, 400, 200, 201])
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
