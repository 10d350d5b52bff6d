import { Octokit } from '@octokit/rest'
import { expect, test } from 'vitest'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { request } from '../../sandbox-ci/test/support.ts'
import type { SandboxGithub } from '../src/server.ts'
import { pushed, runOf, startGithub, startReceiver } from './support.ts'

const WEB = { owner: 'acme', repo: 'web' }
const log = { debug() {}, info() {}, warn() {}, error() {} }

/** GitHub's own client library. */
const clientOf = (github: SandboxGithub, auth = github.address().token) =>
  new Octokit({ baseUrl: github.address().apiUrl, auth, log })

test('a client lists runs by page, branch, status and workflow', async () => {
  const github = await startGithub()
  const { actions, paginate, repos } = clientOf(github)
  github.finish(pushed(github, { branch: 'fix' }).id, 'failure')
  for (let n = 0; n < 4; n++) pushed(github)
  const nightly = pushed(github, { workflow: 'Nightly', event: 'schedule' })
  expect((await repos.get(WEB)).data).toMatchObject({ full_name: 'acme/web', private: true, default_branch: 'main' })
  const all = await paginate(actions.listWorkflowRunsForRepo, { ...WEB, per_page: 2 })
  expect(all.map(({ run_number: number }) => number)).toEqual([1, 5, 4, 3, 2, 1])
  expect(nightly.commitId).toBe(all[1]!.head_sha)
  expect(github.calls()).toHaveLength(4)
  const found = async (query: object) => (await actions.listWorkflowRunsForRepo({ ...WEB, ...query })).data.total_count
  expect([await found({ branch: 'fix' }), await found({ status: 'failure' })]).toEqual([1, 1])
  expect(await found({ branch: 'main', status: 'failure' })).toBe(0)
  const { data } = await actions.listWorkflowRuns({ ...WEB, workflow_id: 'nightly.yml' })
  expect(data.workflow_runs.map(({ id }) => id)).toEqual([nightly.id])
})

test('a rerun of the failed jobs keeps the others, and each attempt can be read', async () => {
  const github = await startGithub()
  const { actions } = clientOf(github)
  const { id: run_id } = pushed(github, { jobs: ['build', 'test', 'lint'] })
  await expect(actions.reRunWorkflow({ ...WEB, run_id })).rejects.toThrow(/already running/)
  github.finish(run_id, 'failure', ['lint'])
  expect((await actions.reRunWorkflowFailedJobs({ ...WEB, run_id })).status).toBe(201)
  const jobs = async (attempt_number: number) => {
    const { data } = await actions.listJobsForWorkflowRunAttempt({ ...WEB, run_id, attempt_number })
    return data.jobs.map(({ name, conclusion, steps }) => `${name} ${conclusion} ${steps?.at(-1)?.conclusion}`)
  }
  expect(await jobs(1)).toEqual(['build success success', 'test success success', 'lint failure failure'])
  expect(await jobs(2)).toEqual(['build success success', 'test success success', 'lint null null'])
  const { data } = await actions.getWorkflowRunAttempt({ ...WEB, run_id, attempt_number: 1 })
  expect(data).toMatchObject({ id: run_id, run_attempt: 1, conclusion: 'failure', actor: { login: 'ada' } })
  const now = (await actions.getWorkflowRun({ ...WEB, run_id })).data
  expect(now).toMatchObject({ run_attempt: 2, status: 'in_progress', triggering_actor: { login: 'ci-bot' } })
  github.finish(run_id, 'success')
  await expect(actions.reRunWorkflowFailedJobs({ ...WEB, run_id })).rejects.toMatchObject({ status: 403 })
  await expect(jobs(3)).rejects.toMatchObject({ status: 404 })
})

test('a run is read in its own repository only, and a renamed repository is redirected to its id', async () => {
  const github = await startGithub()
  const { actions, repos } = clientOf(github)
  const { id: run_id } = pushed(github, {}, 'acme/api')
  await expect(actions.getWorkflowRun({ ...WEB, run_id })).rejects.toMatchObject({ status: 404 })
  await expect(actions.reRunWorkflow({ ...WEB, run_id })).rejects.toMatchObject({ status: 404 })
  github.rename('acme/api', 'acme/core')
  const old = { owner: 'acme', repo: 'api' }
  expect((await repos.get(old)).data).toMatchObject({ full_name: 'acme/core' })
  const { data } = await actions.getWorkflowRun({ ...old, run_id })
  expect(data).toMatchObject({ id: run_id, repository: { full_name: 'acme/core' } })
  const manual = { redirect: 'manual' } as const
  expect((await actions.cancelWorkflowRun({ ...old, run_id, request: manual })).status).toBe(307)
})

test('a run is cancelled once', async () => {
  const clock = createHandClock(Date.parse('2026-02-03T04:05:06.789Z'))
  const github = await startGithub({ clock })
  const { actions } = clientOf(github)
  const { id: run_id } = pushed(github)
  expect((await actions.cancelWorkflowRun({ ...WEB, run_id })).status).toBe(202)
  await clock.advance(1_000)
  expect(runOf(github, run_id)).toMatchObject({ conclusion: 'cancelled', jobs: [{ conclusion: 'cancelled' }, {}] })
  await expect(actions.forceCancelWorkflowRun({ ...WEB, run_id })).rejects.toMatchObject({ status: 409 })
  expect((await actions.getWorkflowRun({ ...WEB, run_id })).data.run_started_at).toBe('2026-02-03T04:05:06Z')
})

test('a client starts a workflow on a branch', async () => {
  const github = await startGithub()
  const { actions } = clientOf(github)
  const start = (ref: string, more = {}) =>
    actions.createWorkflowDispatch({ ...WEB, workflow_id: 'nightly.yml', ref, ...more })
  expect((await start('main', { inputs: { level: 'debug' } })).status).toBe(204)
  expect(github.state().runs).toMatchObject([
    { project: 'acme/web Nightly', event: 'workflow_dispatch', branch: 'main' },
  ])
  const { data, status } = await start('refs/heads/main', { return_run_details: true })
  expect(status).toBe(200)
  expect(data).toMatchObject({ workflow_run_id: github.state().runs[1]!.id })
  expect((await actions.getWorkflowRun({ ...WEB, run_id: github.state().runs[1]!.id })).data.actor?.login).toBe(
    'ci-bot',
  )
  await expect(start('gone')).rejects.toMatchObject({ status: 422, message: /^No ref found for: gone/ })
  await expect(start('main', { workflow_id: 'gone.yml' })).rejects.toMatchObject({ status: 404 })
})

test('a branch exists from the first push to it until it is deleted; one of a fork is not in the repository', async () => {
  const github = await startGithub()
  const { repos } = clientOf(github)
  const branch = async (name: string) => (await repos.getBranch({ ...WEB, branch: name })).data
  const gone = { status: 404, message: /^Branch not found/ }
  expect(await branch('main')).toMatchObject({ name: 'main', protected: false, commit: { commit: { message: /./ } } })
  await expect(branch('fix/login')).rejects.toMatchObject(gone)
  pushed(github, { branch: 'fix/login', fork: 'mallory' })
  pushed(github, { branch: 'fix/login' }, 'acme/api')
  await expect(branch('fix/login')).rejects.toMatchObject(gone)
  const { commitId: sha } = pushed(github, { branch: 'fix/login', message: 'Log in', author: { login: 'grace' } })
  const commit = { sha, commit: { message: 'Log in' }, author: { login: 'grace' } }
  expect(await branch('fix/login')).toMatchObject({ name: 'fix/login', commit })
  const authorization = `Bearer ${github.address().token}`
  const asIs = await fetch(`${github.url}/repos/acme/web/branches/fix/login`, { headers: { authorization } })
  expect(asIs.status).toBe(200)
  expect(github.deleteBranch('acme/web', 'fix/login')).toBe(true)
  await expect(branch('fix/login')).rejects.toMatchObject(gone)
  expect(github.deleteBranch('acme/web', 'fix/login')).toBe(false)
  expect(github.deleteBranch('acme/web', 'main')).toBe(false)
  expect(github.deleteBranch('acme/gone', 'main')).toBe(false)
  pushed(github, { branch: 'fix/login' })
  expect(await branch('fix/login')).toMatchObject({ name: 'fix/login' })
})

test('calls for a renamed branch are redirected until there is another with the old name, and so are those for master', async () => {
  const github = await startGithub()
  const { actions, repos } = clientOf(github)
  const branch = async (name: string) => (await repos.getBranch({ ...WEB, branch: name })).data.name
  const { commitId } = pushed(github, { branch: 'main' })
  expect(github.renameBranch('acme/web', 'main', 'release/next')).toBe(true)
  expect(github.renameBranch('acme/web', 'main', 'trunk')).toBe(false)
  expect((await repos.get(WEB)).data.default_branch).toBe('release/next')
  const manual = { request: { redirect: 'manual' } } as const
  const moved = await repos.getBranch({ ...WEB, branch: 'main', ...manual })
  const location = `${github.url}/repositories/acme/web/branches/release%2Fnext`
  expect(moved).toMatchObject({ status: 301, headers: { location }, data: { url: location } })
  expect(await branch('main')).toBe('release/next')
  expect(await branch('master')).toBe('release/next')
  expect((await repos.getBranch({ ...WEB, branch: 'release/next' })).data.commit.sha).toBe(commitId)
  expect((await actions.listWorkflowRunsForRepo({ ...WEB, branch: 'main' })).data.total_count).toBe(1)
  pushed(github)
  expect(github.state().runs.at(-1)!.branch).toBe('release/next')
  github.renameBranch('acme/web', 'release/next', 'trunk')
  expect([await branch('main'), await branch('release/next'), await branch('master')]).toEqual(Array(3).fill('trunk'))
  pushed(github, { branch: 'main' })
  expect(await branch('main')).toBe('main')
  expect(github.renameBranch('acme/web', 'trunk', 'main')).toBe(false)
  expect(github.deleteBranch('acme/web', 'main')).toBe(true)
  await expect(branch('main')).rejects.toMatchObject({ status: 404 })
  github.renameBranch('acme/web', 'trunk', 'main')
  expect([await branch('main'), await branch('trunk')]).toEqual(['main', 'main'])
})

test('a pull request exists from the first run with its number, and is open until it is closed or its branch is gone', async () => {
  const clock = createHandClock(Date.parse('2026-02-03T04:05:06Z'))
  const github = await startGithub({ clock })
  const { actions, pulls } = clientOf(github)
  const pull = async (pull_number: number) => (await pulls.get({ ...WEB, pull_number })).data
  await expect(pull(7)).rejects.toMatchObject({ status: 404 })
  const own = pushed(github, {
    branch: 'fix',
    pullRequest: 7,
    message: 'Log in\n\nAt last.',
    author: { login: 'grace' },
  })
  expect(own.event).toBe('pull_request')
  const forked = pushed(github, { branch: 'main', fork: 'mallory', pullRequest: 8 })
  const head = { label: 'acme:fix', ref: 'fix', sha: own.commitId }
  const open = { number: 7, state: 'open', merged: false, merged_at: null, closed_at: null }
  expect(await pull(7)).toMatchObject({
    ...open,
    title: 'Log in',
    user: { login: 'grace' },
    head,
    base: { ref: 'main' },
  })
  expect((await pull(7)).html_url).toBe(`${github.url}/acme/web/pull/7`)
  expect(await pull(8)).toMatchObject({
    head: { label: 'mallory:main', repo: { full_name: 'mallory/web', fork: true } },
  })
  const listed = async (run_id: number) =>
    (await actions.getWorkflowRun({ ...WEB, run_id })).data.pull_requests!.map(({ number }) => number)
  expect([await listed(own.id), await listed(forked.id)]).toEqual([[7], []])
  const later = pushed(github, { branch: 'fix', pullRequest: 7, message: 'Log out' })
  const after = { title: 'Log out', user: { login: 'grace' }, head: { sha: later.commitId } }
  expect(await pull(7)).toMatchObject(after)
  await clock.advance(60_000)
  expect(github.closePull('acme/web', 7, { merged: true })).toBe(true)
  expect(github.closePull('acme/web', 7)).toBe(false)
  const at = '2026-02-03T04:06:06Z'
  expect(await pull(7)).toMatchObject({ ...after, state: 'closed', merged: true, merged_at: at, closed_at: at })
  expect(await listed(own.id)).toEqual([])
  github.closePull('acme/web', 8)
  expect(await pull(8)).toMatchObject({ state: 'closed', merged: false, merged_at: null, closed_at: at })
  for (const [number, lose] of [
    [9, () => github.deleteBranch('acme/web', 'more')],
    [10, () => github.renameBranch('acme/web', 'more', 'most')],
  ] as const) {
    pushed(github, { branch: 'more', pullRequest: number })
    expect((await pull(number)).state).toBe('open')
    lose()
    expect(await pull(number)).toMatchObject({ state: 'closed', merged: false })
  }
})

test('a tag exists from the first push of it, and a workflow can be started on it', async () => {
  const github = await startGithub()
  const { actions, git } = clientOf(github)
  const ref = async (name: string) => (await git.getRef({ ...WEB, ref: name })).data
  await expect(ref('tags/v1/rc')).rejects.toMatchObject({ status: 404 })
  const { commitId: sha, event } = pushed(github, { tag: 'v1/rc' })
  expect(event).toBe('push')
  expect(await ref('tags/v1/rc')).toMatchObject({ ref: 'refs/tags/v1/rc', object: { type: 'commit', sha } })
  const authorization = `Bearer ${github.address().token}`
  const asIs = await fetch(`${github.url}/repos/acme/web/git/ref/tags/v1/rc`, { headers: { authorization } })
  expect(asIs.status).toBe(200)
  expect((await ref('heads/main')).object.sha).not.toBe(sha)
  for (const name of ['heads/v1/rc', 'tags/main', 'pulls/main'])
    await expect(ref(name)).rejects.toMatchObject({ status: 404 })
  await actions.createWorkflowDispatch({ ...WEB, workflow_id: 'ci.yml', ref: 'v1/rc' })
  expect(github.state().runs.at(-1)).toMatchObject({ branch: 'v1/rc', event: 'workflow_dispatch', commitId: sha })
  await expect(ref('heads/v1/rc')).rejects.toMatchObject({ status: 404 })
})

test('whether something exists is refused like any other call', async () => {
  const github = await startGithub()
  const { git, pulls, repos } = clientOf(github)
  pushed(github, { tag: 'v1', pullRequest: 7 })
  for (const ask of [
    () => repos.getBranch({ ...WEB, branch: 'main' }),
    () => pulls.get({ ...WEB, pull_number: 7 }),
    () => git.getRef({ ...WEB, ref: 'tags/v1' }),
  ]) {
    github.failNext(1, 502)
    await expect(ask()).rejects.toMatchObject({ status: 502 })
    github.limit({ calls: 1, retryAfterS: 7 })
    await expect(ask()).rejects.toMatchObject({ status: 403, response: { headers: { 'retry-after': '7' } } })
    expect((await ask()).status).toBe(200)
  }
})

test('logs are behind a link of another origin, which works for a minute and takes no token', async () => {
  const clock = createHandClock(Date.parse('2026-02-03T04:05:06.789Z'))
  const github = await startGithub({ clock })
  const { actions } = clientOf(github)
  const { id: run_id } = pushed(github, { logs: { test: 'expected 1\nreceived 2' } })
  const { data } = await actions.listJobsForWorkflowRun({ ...WEB, run_id })
  const job = { ...WEB, job_id: data.jobs[1]!.id }
  await expect(actions.downloadJobLogsForWorkflowRun(job)).rejects.toMatchObject({ status: 404 })
  await expect(actions.deleteWorkflowRunLogs({ ...WEB, run_id })).rejects.toMatchObject({ status: 403 })
  github.finish(run_id, 'failure')
  expect((await actions.downloadJobLogsForWorkflowRun(job)).data).toBe(
    '2026-02-03T04:05:06.7890000Z expected 1\n2026-02-03T04:05:06.7890000Z received 2\n',
  )
  expect((await actions.getJobForWorkflowRun(job)).data).toMatchObject({ name: 'test', conclusion: 'failure' })
  const manual = { request: { redirect: 'manual' } } as const
  const link = (await actions.downloadJobLogsForWorkflowRun({ ...job, ...manual })).headers.location!
  expect(new URL(link).origin).not.toBe(github.url)
  const authorization = `Bearer ${github.address().token}`
  expect((await fetch(link, { headers: { authorization } })).status).toBe(403)
  await clock.advance(60_001)
  expect((await fetch(link)).status).toBe(403)
  for (const answer of [
    await actions.downloadWorkflowRunLogs({ ...WEB, run_id }),
    await actions.downloadWorkflowRunAttemptLogs({ ...WEB, run_id, attempt_number: 1 }),
  ])
    expect(Buffer.from(answer.data as ArrayBuffer).toString()).toMatch(/^PK.*0_build\.txt.*1_test\.txt.*expected 1/s)
  expect((await actions.deleteWorkflowRunLogs({ ...WEB, run_id })).status).toBe(204)
  await expect(actions.downloadJobLogsForWorkflowRun(job)).rejects.toMatchObject({ status: 404 })
  await expect(actions.downloadWorkflowRunLogs({ ...WEB, run_id })).rejects.toMatchObject({ status: 404 })
})

test('a run waits until a reviewer of its environment approves or rejects it, and so does its rerun', async () => {
  const github = await startGithub()
  const { actions } = clientOf(github)
  const waits = (mayReview = true) => pushed(github, { environments: [{ name: 'production', mayReview }] }).id
  const pending = async (run_id: number) => (await actions.getPendingDeploymentsForRun({ ...WEB, run_id })).data
  const review = async (run_id: number, state: 'approved' | 'rejected', ids?: number[]) => {
    const environment_ids = ids ?? (await pending(run_id)).map(({ environment }) => environment.id!)
    return actions.reviewPendingDeploymentsForRun({
      ...WEB,
      run_id,
      environment_ids,
      state,
      comment: `It is ${state}.`,
    })
  }
  const id = waits()
  expect(runOf(github, id).status).toBe('waiting')
  expect(await pending(id)).toMatchObject([{ environment: { name: 'production' }, current_user_can_approve: true }])
  expect((await review(id, 'approved')).data).toMatchObject([{ environment: 'production', ref: 'main' }])
  expect(runOf(github, id).status).toBe('in_progress')
  expect(await pending(id)).toEqual([])
  github.finish(id, 'failure')
  github.rerun(id)
  expect(runOf(github, id).status).toBe('waiting')
  await review(id, 'rejected')
  expect(runOf(github, id)).toMatchObject({ status: 'completed', conclusion: 'failure' })
  const environments = [{ name: 'production' }]
  expect((await actions.getReviewsForRun({ ...WEB, run_id: id })).data).toMatchObject([
    { state: 'approved', comment: 'It is approved.', user: { login: 'ci-bot' }, environments },
    { state: 'rejected', comment: 'It is rejected.', environments },
  ])
  const others = waits(false)
  expect((await actions.getReviewsForRun({ ...WEB, run_id: others })).data).toEqual([])
  expect(await pending(others)).toMatchObject([{ current_user_can_approve: false }])
  await expect(review(others, 'approved')).rejects.toMatchObject({ status: 422 })
  await expect(review(waits(), 'approved', [1])).rejects.toMatchObject({ status: 422 })
  expect((await request('POST', `${github.url}/sandbox/runs/${others}/review`, { state: 'approved' })).status).toBe(200)
  expect(runOf(github, others).status).toBe('in_progress')
})

test('a run waits for each of its environments, for their reviewers and timers', async () => {
  const clock = createHandClock(Date.parse('2026-03-02T13:00:00Z'))
  const github = await startGithub({ clock })
  const { actions } = clientOf(github)
  const production = { name: 'production', mayReview: true, reviewers: ['ada', 'team/ops'] }
  const canary = { name: 'canary', mayReview: false, waitMinutes: 30 }
  const { id: run_id } = pushed(github, { environments: [production, canary] })
  const pending = async () => (await actions.getPendingDeploymentsForRun({ ...WEB, run_id })).data
  const [first, second] = await pending()
  expect(first!.reviewers).toMatchObject([
    { type: 'User', reviewer: { login: 'ci-bot' } },
    { type: 'User', reviewer: { login: 'ada' } },
    { type: 'Team', reviewer: { slug: 'ops' } },
  ])
  expect(second).toMatchObject({ wait_timer: 30, current_user_can_approve: false, reviewers: [] })
  const approve = (environment_ids: number[]) =>
    actions.reviewPendingDeploymentsForRun({ ...WEB, run_id, environment_ids, state: 'approved', comment: '' })
  await expect(approve([second!.environment.id!])).rejects.toMatchObject({ status: 422 })
  await approve([first!.environment.id!])
  expect((await pending()).map(({ environment }) => environment.name)).toEqual(['canary'])
  await clock.advance(30 * 60_000)
  expect(runOf(github, run_id).status).toBe('in_progress')
})

test('a failed job has the annotations of its steps, and one for its exit', async () => {
  const github = await startGithub()
  const { actions, checks } = clientOf(github)
  const said = { path: 'src/login.ts', line: 7, level: 'failure', title: 'logs in', message: 'expected 1' } as const
  const { id: run_id } = pushed(github, { annotations: { test: [said] } })
  const [build, tests] = (await actions.listJobsForWorkflowRun({ ...WEB, run_id })).data.jobs
  const annotations = async (job = tests) => {
    const { data } = await checks.listAnnotations({ ...WEB, check_run_id: job!.id })
    return data.map(({ path, start_line: line, message }) => `${path}:${line} ${message}`)
  }
  expect(await annotations()).toEqual([])
  github.finish(run_id, 'failure')
  expect(await annotations()).toEqual(['src/login.ts:7 expected 1', '.github:5 Process completed with exit code 1.'])
  expect(await annotations(build)).toEqual([])
})

test('a client gets errors for a wrong token, a rate limit, an unknown repository, and requested faults', async () => {
  const github = await startGithub()
  const ask = (auth?: string, repo = 'web') => clientOf(github, auth).repos.get({ ...WEB, repo })
  await expect(ask('a-token-of-nobody')).rejects.toMatchObject({ status: 401, message: /^Bad credentials/ })
  await expect(ask(undefined, 'gone')).rejects.toMatchObject({ status: 404 })
  const control = (path: string, body: object) => request('POST', `${github.url}/sandbox/${path}`, body)
  await control('limit', { calls: 1, retryAfterS: 7, status: 429 })
  const headers = { 'retry-after': '7', 'x-ratelimit-remaining': '0' }
  await expect(ask()).rejects.toMatchObject({ status: 429, response: { headers } })
  await control('fail', { calls: 1, status: 502 })
  await expect(ask()).rejects.toMatchObject({ status: 502 })
  await control('outage', { isOut: true })
  await expect(ask()).rejects.toThrow(/fetch failed|other side closed/)
  github.setOutage(false)
  const { headers: rate } = await ask()
  const { data } = await clientOf(github).rateLimit.get()
  expect(rate['x-ratelimit-used']).toBe(String(data.rate.used))
  expect(github.calls().map(({ statusCode }) => statusCode)).toEqual([401, 404, 429, 502, 0, 200, 200])
})

test('an unchanged response is a 304, and does not count towards the rate limit', async () => {
  const github = await startGithub()
  const ask = (etag = '') =>
    clientOf(github).actions.listWorkflowRunsForRepo({ ...WEB, headers: { 'if-none-match': etag } })
  const { etag, ...headers } = (await ask()).headers
  const rate = { 'x-ratelimit-used': headers['x-ratelimit-used'] }
  await expect(ask(etag)).rejects.toMatchObject({ status: 304, response: { headers: rate } })
  pushed(github)
  expect((await ask(etag)).data.total_count).toBe(1)
})

test('a client finds failed deliveries, and can redeliver them', async () => {
  const receiver = await startReceiver((n) => (n < 3 ? 500 : 202))
  const github = await startGithub({ webhookUrl: receiver.url })
  await github.settle()
  const { repos } = clientOf(github)
  const hook = { ...WEB, hook_id: (await repos.listWebhooks(WEB)).data[0]!.id }
  const [lost] = (await repos.listWebhookDeliveries({ ...hook, status: 'failure' })).data
  expect(lost).toMatchObject({ event: 'ping', redelivery: false, status_code: 500 })
  expect((await repos.redeliverWebhookDelivery({ ...hook, delivery_id: lost!.id })).status).toBe(202)
  await github.settle()
  const [again] = (await repos.listWebhookDeliveries(hook)).data
  expect(again).toMatchObject({ guid: lost!.guid, redelivery: true, status: 'OK' })
})

test('a badge shows the newest completed run of a branch; that of a private repository needs the token', async () => {
  const github = await startGithub()
  const badge = async (repository: string, branch: string, headers = {}) => {
    const url = `${github.url}/${repository}/actions/workflows/ci.yml/badge.svg?branch=${branch}`
    const response = await fetch(url, { headers })
    return /CI: ([\w ]+)/.exec(await response.text())?.[1] ?? response.status
  }
  for (const name of ['acme/web', 'acme/api']) github.finish(pushed(github, {}, name).id, 'failure')
  expect([await badge('acme/api', 'main'), await badge('acme/api', 'fix')]).toEqual(['failing', 'no status'])
  const authorization = `Bearer ${github.address().token}`
  expect(await badge('acme/web', 'main')).toBe(404)
  expect(await badge('acme/web', 'main', { authorization })).toBe('failing')
})
