import { Gitlab } from '@gitbeaker/rest'
import { describe, expect, test, vi } from 'vitest'
import type { SandboxGitlab } from '../src/server.ts'
import { pipelineOf, pushed, quickClock, startGitlab } from './support.ts'

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

  test('approves the deployment of a protected environment, and starts its job only after that', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const rules = [{ role: 'Maintainer', required: 2 } as const, { group: { name: 'QA', members: ['Grace'] } }]
    gitlab.protect('acme/web', 'production', rules)
    const jobs = [{ name: 'unit' }, { name: 'eu', stage: 'deploy', environment: 'production' }]
    const { id } = pushed(gitlab, { jobs, outcome: 'none', user: 'Ada' })
    const all = () => client.Deployments.all('acme/web', { status: 'blocked' })
    expect(await all()).toEqual([])
    gitlab.advance(id, 'manual')
    const [deployment] = await all()
    expect(deployment).toMatchObject({ deployable: { name: 'eu', pipeline: { id } }, user: { username: 'ada' } })
    expect(deployment).not.toHaveProperty('approval_summary')
    const approve = (how: object, status: 'approved' | 'rejected' = 'approved') =>
      client.Deployments.setApproval('acme/web', deployment!.id, status, how)
    await expect(approve({ representedAs: 'QA' })).rejects.toThrow('no approval rules for the given')
    expect(await approve({ comment: 'Tested.' })).toMatchObject({ user: { username: 'robot' }, comment: 'Tested.' })
    // The same once more changes nothing.
    expect(await approve({ comment: 'Again.' })).toMatchObject({ comment: 'Tested.' })
    const shown = () => client.Deployments.show('acme/web', deployment!.id)
    expect(await shown()).toMatchObject({
      status: 'blocked',
      pending_approval_count: 2,
      approvals: [{ status: 'approved', comment: 'Tested.' }],
      approval_summary: {
        rules: [
          { access_level: 40, access_level_description: 'Maintainers', deployment_approvals: [{ comment: 'Tested.' }] },
          { access_level: null, access_level_description: 'QA', deployment_approvals: [] },
        ],
      },
    })
    const job = pipelineOf(gitlab, id).jobs[1]!.id
    await expect(client.Jobs.play('acme/web', job)).rejects.toThrow('Unplayable Job')
    expect(gitlab.decide(id, 'production', 'Ada', { status: 'approved' })).toMatchObject({ kind: 'not-possible' })
    for (const by of ['Lin', 'Grace']) gitlab.decide(id, 'production', by, { status: 'approved' })
    expect(await shown()).toMatchObject({ status: 'blocked', pending_approval_count: 1 })
    gitlab.protect('acme/web', 'production', [])
    await client.Jobs.play('acme/web', job)
    expect(await shown()).toMatchObject({ status: 'running' })
    await expect(approve({})).rejects.toThrow('not protected')
  })

  test('rejects a deployment, whose pipeline fails; may not approve its own; and in Free has no such call', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    gitlab.protect('acme/web', 'production')
    const jobs = [
      { name: 'eu', environment: 'production' },
      { name: 'last', stage: 'last' },
    ]
    const waiting = (user: string | null) => {
      const { id, jobs: own } = pushed(gitlab, { jobs, outcome: 'none', user })
      gitlab.advance(id, 'manual')
      return { id, deployment: own[0]!.deployment!.id }
    }
    const own = waiting(null)
    const decide = ({ deployment }: typeof own, status: 'approved' | 'rejected') =>
      client.Deployments.setApproval('acme/web', deployment, status)
    await expect(decide(own, 'approved')).rejects.toThrow('cannot approve your own deployment')
    expect(await decide(own, 'rejected')).toMatchObject({ status: 'rejected' })
    expect(pipelineOf(gitlab, own.id)).toMatchObject({
      status: 'failed',
      jobs: [{ status: 'failed', failureReason: 'deployment_rejected' }, { status: 'skipped' }],
    })
    await expect(decide(own, 'approved')).rejects.toThrow('cannot approve your own deployment')
    const others = waiting('Ada')
    gitlab.setSwitches({ role: 'Developer' })
    await expect(decide(others, 'approved')).rejects.toThrow("You don't have permission to approve this deployment")
    gitlab.setSwitches({ role: 'Guest' })
    await expect(client.Deployments.all('acme/web')).rejects.toThrow('403 Forbidden')
    gitlab.setSwitches({ role: 'Maintainer', isFree: true })
    await expect(decide(others, 'approved')).rejects.toThrow('404 Not Found')
    expect(await client.Deployments.show('acme/web', others.deployment)).not.toHaveProperty('pending_approval_count')
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

  test('finds a branch from the first push to it until it is deleted; one of a fork is not in the project', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const branch = (name: string) => client.Branches.show('acme/web', name)
    const main = { name: 'main', default: true, protected: true, merged: false, can_push: true }
    expect(await branch('main')).toMatchObject({ ...main, commit: { title: 'Initial commit' } })
    pushed(gitlab, { branch: 'fix/login', mergeRequest: { fork: true } })
    pushed(gitlab, { branch: 'fix/login', tag: true })
    pushed(gitlab, { branch: 'fix/login' }, 'acme/api')
    await expect(branch('fix/login')).rejects.toThrow('404 Branch Not Found')
    const { sha: id } = pushed(gitlab, { branch: 'fix/login' })
    const { url, token } = gitlab.address()
    const web_url = `${url}/acme/web/-/tree/fix/login`
    const fix = { name: 'fix/login', default: false, protected: false, web_url, commit: { id, author_name: 'Ada' } }
    expect(await branch('fix/login')).toMatchObject(fix)
    gitlab.setSwitches({ isBranchProtected: true })
    expect(await branch('fix/login')).toMatchObject({ can_push: false })
    const asIs = `${url}/api/v4/projects/acme%2Fweb/repository/branches/fix/login`
    expect((await fetch(asIs, { headers: { 'private-token': token } })).status).toBe(404)
    expect(gitlab.deleteBranch('acme/web', 'fix/login')).toBe(true)
    await expect(branch('fix/login')).rejects.toThrow('404 Branch Not Found')
    for (const [project, name] of [
      ['acme/web', 'fix/login'],
      ['acme/web', 'main'],
      ['acme/none', 'main'],
    ] as const)
      expect(gitlab.deleteBranch(project, name)).toBe(false)
    pushed(gitlab, { branch: 'fix/login' })
    expect(await branch('fix/login')).toMatchObject({ name: 'fix/login' })
  })

  test('finds no branch under the former name of the default branch', async () => {
    const gitlab = await startGitlab()
    const client = clientOf(gitlab)
    const { sha: id } = pushed(gitlab)
    expect(gitlab.renameDefaultBranch('acme/web', 'trunk')).toBe(true)
    expect(gitlab.renameDefaultBranch('acme/web', 'trunk')).toBe(false)
    expect(gitlab.renameDefaultBranch('acme/none', 'trunk')).toBe(false)
    expect(await client.Projects.show('acme/web')).toMatchObject({ default_branch: 'trunk' })
    expect(await client.Projects.show('acme/api')).toMatchObject({ default_branch: 'main' })
    expect(await client.Branches.show('acme/web', 'trunk')).toMatchObject({ default: true, commit: { id } })
    await expect(client.Branches.show('acme/web', 'main')).rejects.toThrow('404 Branch Not Found')
    expect(pushed(gitlab).branch).toBe('trunk')
    pushed(gitlab, { branch: 'fix', mergeRequest: {} })
    expect(await client.MergeRequests.show('acme/web', 1)).toMatchObject({ target_branch: 'trunk' })
  })

  test('finds a merge request from the first pipeline with its iid, open until it is closed or its branch is gone', async () => {
    const clock = quickClock()
    const gitlab = await startGitlab({ clock })
    const client = clientOf(gitlab)
    const request = (iid: number) => client.MergeRequests.show('acme/web', iid)
    await expect(request(7)).rejects.toThrow('404 Not found')
    const grace = { name: 'Grace Hopper', email: 'grace@acme.example' }
    const push = { outcome: 'none', branch: 'fix' } as const
    const { sha } = pushed(gitlab, { ...push, author: grace, mergeRequest: { iid: 7, title: 'Log in' } })
    const open = { state: 'opened', merged_at: null, merged_by: null, closed_at: null, closed_by: null }
    const where = { source_branch: 'fix', target_branch: 'main', source_project_id: 71, target_project_id: 71 }
    const author = { username: 'grace-hopper', name: 'Grace Hopper' }
    expect(await request(7)).toMatchObject({ iid: 7, ...open, ...where, title: 'Log in', author, sha })
    expect((await request(7)).web_url).toBe(`${gitlab.address().url}/acme/web/-/merge_requests/7`)
    await expect(client.MergeRequests.show('acme/api', 7)).rejects.toThrow('404 Not found')
    const later = pushed(gitlab, { ...push, mergeRequest: { iid: 7, title: 'Log out' } })
    const after = { title: 'Log out', author, sha: later.sha, head_pipeline: { id: later.id, status: 'running' } }
    expect(await request(7)).toMatchObject({ ...open, ...after })
    clock.pass(60_000)
    const at = new Date(clock.now()).toISOString()
    expect(gitlab.closeMergeRequest('acme/web', 7, { merged: true })).toBe(true)
    expect(gitlab.closeMergeRequest('acme/web', 7)).toBe(false)
    const merged = {
      state: 'merged',
      merged_at: at,
      merged_by: { username: 'robot' },
      closed_at: null,
      closed_by: null,
    }
    expect(await request(7)).toMatchObject({ ...after, ...merged })
    expect(await client.Branches.show('acme/web', 'fix')).toMatchObject({ merged: true })
    const closed = { state: 'closed', merged_at: null, closed_at: at, closed_by: { username: 'robot' } }
    for (const [iid, mergeRequest, end] of [
      [8, { fork: true }, () => gitlab.closeMergeRequest('acme/web', 8)],
      [9, {}, () => gitlab.deleteBranch('acme/web', 'more')],
    ] as const) {
      pushed(gitlab, { outcome: 'none', branch: 'more', mergeRequest: { iid, ...mergeRequest } })
      expect(await request(iid)).toMatchObject(open)
      end()
      expect(await request(iid)).toMatchObject(closed)
    }
    expect(await request(8)).toMatchObject({ source_project_id: 99 })
    expect(gitlab.closeMergeRequest('acme/none', 7)).toBe(false)
  })

  test('is refused to know what exists like any other call', async () => {
    const gitlab = await startGitlab()
    pushed(gitlab, { mergeRequest: { iid: 7 } })
    const { url, token, readToken } = gitlab.address()
    for (const path of ['repository/branches/main', 'merge_requests/7']) {
      const ask = async (given = token) => {
        const answer = await fetch(`${url}/api/v4/projects/71/${path}`, { headers: { 'private-token': given } })
        return answer.status
      }
      gitlab.failNext(1, 502)
      expect(await ask()).toBe(502)
      gitlab.limit({ calls: 1, retryAfterS: 30 })
      expect(await ask()).toBe(429)
      expect([await ask(), await ask(readToken), await ask('wrong')]).toEqual([200, 200, 401])
    }
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
