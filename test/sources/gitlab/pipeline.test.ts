import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pushed, startGitlab } from '../../../packages/sandbox-gitlab/test/support.ts'
import { FAILED_JOBS_MAX } from '../../../src/domain/builds/build-event.ts'
import { createGitlabEndpoint } from '../../../src/sources/gitlab/endpoint.ts'
import { JOBS_MAX, readPipeline } from '../../../src/sources/gitlab/pipeline.ts'

const NOW = Date.parse('2025-11-24T16:00:00Z')
const TOKEN = 'sent-as-it-is-by-gitlab'
const endpoint = createGitlabEndpoint([TOKEN, 'another-token-of-ours'], () => NOW)
const read = (body: string, headers: Record<string, string> = { 'x-gitlab-token': TOKEN }) =>
  endpoint.read(Buffer.from(body), { 'x-gitlab-event': 'Pipeline Hook', ...headers })

const PROJECT = {
  id: 1,
  path_with_namespace: 'acme/web',
  web_url: 'https://gl.example/acme/web',
  default_branch: 'main',
}
const PIPELINE = {
  id: 31,
  iid: 3,
  ref: 'main',
  tag: false,
  sha: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2',
  source: 'push',
  status: 'failed',
  started_at: null,
  finished_at: '2016-08-12 15:26:29 UTC',
}

const USER = {
  id: 42,
  username: 'ada.lovelace',
  email: 'ada.lovelace@acme.example',
  avatar_url: 'https://gl.example/42',
}

const DELIVERED = JSON.stringify({ object_kind: 'pipeline', object_attributes: PIPELINE, project: PROJECT })

const seenOf = (more: object, others: object = {}) =>
  readPipeline({ pipeline: { ...PIPELINE, ...more }, project: PROJECT, ...others })!.event

describe('a pipeline', () => {
  it.each([
    ['created', 'queued'],
    ['waiting_for_resource', 'queued'],
    ['preparing', 'queued'],
    ['pending', 'queued'],
    ['scheduled', 'queued'],
    ['running', 'initiated'],
    ['waiting_for_callback', 'initiated'],
    ['canceling', 'initiated'],
    ['manual', 'waiting'],
    ['success', 'success'],
    ['failed', 'error'],
    ['canceled', 'stopped'],
    ['skipped', 'skipped'],
    ['pondering', 'pondering'],
    [null, 'unknown'],
  ])('that is %s has the status %s', (status, word) => {
    expect(seenOf({ status }).rawStatus).toBe(word)
  })

  it.each([
    [['script_failure'], 'error'],
    [['runner_system_failure', 'script_failure'], 'error'],
    [['runner_system_failure', 'stuck_pending_no_matching_runners'], 'infrastructure_failure'],
    [['ci_quota_exceeded'], 'quota_exceeded'],
    [[], 'error'],
  ])('that failed because of %j has the status %s', (reasons, word) => {
    const jobs = reasons.map((failure_reason, i) => ({ name: `job ${i}`, status: 'failed', failure_reason }))
    const allowed = { name: 'lint', status: 'failed', failure_reason: 'script_failure', allow_failure: true }
    const seen = seenOf({}, { jobs: [...jobs, allowed, { name: 'build', status: 'success' }] })
    expect(seen.rawStatus).toBe(word)
    expect(seen.details.failedJobs).toEqual(jobs.length === 0 ? null : jobs.map(({ name }) => name))
  })

  it('of a merge request, even from a fork, belongs to no branch', () => {
    expect(seenOf({ source: 'merge_request_event' }, { mergeRequest: { iid: 12, source_branch: 'main' } }).branch).toBe(
      '!12',
    )
    expect(seenOf({ ref: 'refs/merge-requests/12/head' }).branch).toBe('!12')
    expect(seenOf({ ref: 'refs/merge-requests/12/merge' }).branch).toBe('!12')
  })

  it('names the author of its commit, both in a hook and in the REST interface', () => {
    const authorOf = (commit: object) => seenOf({}, { commit }).details.author
    const ada = { email: 'ada@acme.example', login: null }
    expect(authorOf({ author: { name: 'Ada', email: 'ada@acme.example' } })).toEqual(ada)
    expect(authorOf({ author_name: 'Ada', author_email: 'ada@acme.example' })).toEqual(ada)
    for (const email of ['[REDACTED]', '7-ada@users.noreply.gitlab.com', 'noreply@acme.example', null])
      expect(authorOf({ author: { name: 'Ada', email } })).toBeNull()
    expect(authorOf({ author: { name: 'Dependabot', email: 'ada@acme.example' } })).toBeNull()
    expect(seenOf({}).details.author).toBeNull()
  })

  it('of a tag with the name of the default branch does not belong to that branch', () => {
    expect(seenOf({ tag: true }).branch).toBe('refs/tags/main · tag')
    expect(seenOf({ tag: true, ref: 'v1.0' }).branch).toBe('v1.0 · tag')
  })

  it.each<[source: string, changes: object, stream: string, sharesCard: boolean, committer: string | null]>([
    ['push', {}, 'main', true, 'Ada'],
    ['merge_request_event', { ref: 'refs/merge-requests/12/head' }, '!12', true, null],
    ['merge_request_event', { ref: 'refs/merge-requests/12/train' }, '!12 · merge queue', false, null],
    ['schedule', {}, 'main · nightly', false, null],
    ['web', { user: { username: 'grace-h' } }, 'main · by hand', false, 'grace-h'],
    ['api', {}, 'main · api', false, null],
    ['trigger', {}, 'main · trigger', false, null],
    ['chat', {}, 'main · chat', false, null],
    ['pipeline', {}, 'main · pipeline', false, null],
    ['webide', {}, 'main · webide', false, null],
    ['external', {}, 'main · external', false, null],
    ['ondemand_dast_scan', {}, 'main · ondemand dast scan', false, null],
    ['security_orchestration_policy', {}, 'main · security orchestration policy', false, null],
    ['container_registry_push', {}, 'main · container registry push', false, null],
    ['duo_workflow', {}, 'main · duo workflow', false, null],
    ['a_source_of_tomorrow', {}, 'main · a source of tomorrow', false, null],
  ])('that %s started, with %o, belongs to the stream %s', (source, changes, stream, sharesCard, committer) => {
    const commit = { author: { name: 'Ada', email: 'ada@acme.example' } }
    const build = seenOf({ source, ...changes }, { commit })
    expect(build).toMatchObject({ branch: stream, details: { committer } })
    expect(build.commitId !== null).toBe(sharesCard)
    if (committer === null) expect(build.details.author).toBeNull()
  })

  it('that runs again still gives the time of its last end, and has not finished', () => {
    const { details } = seenOf({ status: 'running', started_at: '2016-08-12 15:20:00 UTC' })
    expect(details).toMatchObject({
      startedAt: null,
      finishedAt: null,
      lastEndAt: Date.parse('2016-08-12T15:26:29Z'),
    })
    expect(seenOf({ status: 'running', finished_at: null }).details.lastEndAt).toBe(0)
  })

  it('began when GitLab says, in a delivery by the time from its creation, and ran as long as GitLab says', () => {
    const created_at = '2016-08-12 15:23:28 UTC'
    const begun = { status: 'running', finished_at: null, created_at }
    const startOf = (more: object) => seenOf({ ...begun, ...more }).details.startedAt
    expect(startOf({ queued_duration: 12 })).toBe(Date.parse('2016-08-12T15:23:40Z'))
    // GitLab says null for no time in a queue.
    expect(startOf({ queued_duration: null })).toBe(Date.parse('2016-08-12T15:23:28Z'))
    expect(startOf({ queued_duration: 12, started_at: '2016-08-12T15:23:41.5Z' })).toBe(
      Date.parse('2016-08-12T15:23:41.5Z'),
    )
    expect(startOf({ status: 'pending' })).toBeNull()
    expect(startOf({ finished_at: '2016-08-12 15:26:29 UTC', queued_duration: 12 })).toBeNull()
    expect(seenOf({ duration: 1_700 }).details).toMatchObject({ startedAt: null, durationMs: 1_700_000 })
    for (const duration of [null, -1, 1e300, '63']) expect(seenOf({ duration }).details.durationMs).toBeNull()
    expect(seenOf({ ...begun, duration: 63 }).details.durationMs).toBeNull()
  })

  it('that was skipped has ended, although GitLab does not say when', () => {
    expect(seenOf({ status: 'skipped', finished_at: null })).toMatchObject({
      rawStatus: 'skipped',
      details: { lastEndAt: null },
    })
  })

  it('keeps an id beyond 2^53', () => {
    const body = DELIVERED.replace(/"id":31,/, '"id":9223372036854775807,')
    expect(body).not.toBe(DELIVERED)
    const reading = read(body)
    expect(reading).toMatchObject({ kind: 'delivery', event: { buildId: '9223372036854775807' } })
  })

  it('that lacks everything but its ids is still a build', () => {
    const build = readPipeline({ pipeline: { id: 1 }, project: { id: 2, path_with_namespace: 'a/b' } })
    expect(build?.event).toMatchObject({
      projectId: 'gitlab:2',
      buildId: '1',
      branch: null,
      commitId: null,
      rawStatus: 'unknown',
    })
    expect(readPipeline({ pipeline: { id: 'x' }, project: PROJECT })).toBeNull()
  })
})

describe('the endpoint', () => {
  it('stores what it read of a pipeline, and so no variable, wherever it stands', () => {
    const variables = [{ key: 'DEPLOY_KEY', value: 'a-secret-of-the-project' }]
    const sent = { project: PROJECT, variables, builds: [{ name: 'unit', status: 'success' }, { variables }] }
    const reading = read(JSON.stringify({ ...sent, object_attributes: { ...PIPELINE, variables } }))
    if (reading.kind !== 'delivery') throw new Error(reading.kind)
    expect(JSON.stringify(reading)).not.toMatch(/DEPLOY_KEY|a-secret-of-the-project/)
    const { event, project } = reading
    expect(JSON.parse(reading.body)).toEqual({ event, project })
  })

  const failing = (count: number, first = '') =>
    JSON.stringify({
      object_attributes: PIPELINE,
      project: PROJECT,
      builds: [
        ...Array.from({ length: count - 1 }, (_, i) => ({
          name: first || `job ${i}`,
          status: first ? 'success' : 'failed',
        })),
        { name: 'the last', status: 'failed', failure_reason: 'ci_quota_exceeded' },
      ],
    })
  const jobsOf = (body: string) => {
    const reading = read(body)
    if (reading.kind !== 'delivery') throw new Error(reading.kind)
    return { status: reading.event.rawStatus, jobs: reading.event.details.failedJobs }
  }

  it('reads so many jobs, and no more', () => {
    expect(jobsOf(failing(JOBS_MAX, 'passed'))).toEqual({ status: 'quota_exceeded', jobs: ['the last'] })
    expect(jobsOf(failing(JOBS_MAX + 1, 'passed'))).toEqual({ status: 'error', jobs: null })
  })

  it('keeps the names of so many failed jobs, and what all of them say of the pipeline', () => {
    expect(jobsOf(failing(FAILED_JOBS_MAX)).jobs).toHaveLength(FAILED_JOBS_MAX)
    const { status, jobs } = jobsOf(failing(FAILED_JOBS_MAX + 1))
    expect([status, jobs?.length, jobs?.includes('the last')]).toEqual(['error', FAILED_JOBS_MAX, false])
  })

  it('accepts no other events, and no child pipelines, which are jobs of their parent', () => {
    expect(read(DELIVERED, { 'x-gitlab-token': TOKEN, 'x-gitlab-event': 'Job Hook' })).toEqual({ kind: 'unwanted' })
    const child = { object_attributes: { ...PIPELINE, source: 'parent_pipeline' }, project: PROJECT }
    expect(read(JSON.stringify(child))).toEqual({ kind: 'unwanted' })
  })

  it.each(['[]', 'null', '{}', 'no JSON', `${'['.repeat(100)}${']'.repeat(100)}`, '{"object_attributes":{"id":1}}'])(
    'refuses %s',
    (body) => {
      expect(read(body)).toMatchObject({ kind: 'refusal' })
    },
  )

  it('reads nothing without a valid token', () => {
    expect(read(DELIVERED, {})).toEqual({ kind: 'unauthorized' })
    expect(read(DELIVERED, { 'x-gitlab-token': 'a-token-of-nobody-here' })).toEqual({ kind: 'unauthorized' })
    expect(read(DELIVERED, { 'x-gitlab-token': '' })).toEqual({ kind: 'unauthorized' })
  })
})

describe('a stranger', () => {
  const senderOf = (secret: string, headers: Record<string, string>) =>
    createGitlabEndpoint([secret], () => NOW).senderOf({ headers } as never, {
      pathname: '/webhooks/gitlab',
      search: '',
    })

  it('who sends a signature is read only if a signing token is configured', () => {
    const signed = { 'webhook-signature': 'v1,anything' }
    expect(senderOf(TOKEN, signed)).toBe('stranger')
    expect(senderOf('whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q=', signed)).toBe('unproven')
    expect(senderOf(TOKEN, { 'x-gitlab-token': TOKEN })).toBe('proven')
  })
})

it('the endpoint takes 2,000 jobs, the most on GitLab.com, because four refusals disable the webhook', async () => {
  const gitlab = await startGitlab({ webhookUrl: 'http://127.0.0.1:9/hook' })
  pushed(gitlab, { outcome: 'none' })
  const sent = JSON.parse(gitlab.deliveries().at(-1)!.body)
  const job = { ...sent.builds[0], user: { ...USER, name: 'A name of forty characters, or a bit more' } }
  const body = JSON.stringify({ ...sent, builds: Array.from({ length: 2_000 }, () => job) })
  expect(Buffer.byteLength(body)).toBeLessThan(endpoint.bodyBytesMax)
})

describe('a signature', () => {
  const SIGNING = 'whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q='
  const ID = 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f'
  const SENT_S = 1_764_000_000
  const BODY = '{"object_kind":"pipeline"}'
  const headers = {
    'x-gitlab-event': 'Job Hook',
    'webhook-id': ID,
    'webhook-timestamp': String(SENT_S),
    'webhook-signature': 'v1,EYpZi6oqOZr6FIuL9IF7Dq/bKAStMDSclCnm/olFMOU=',
  }
  const at = (nowS: number, secret = SIGNING) => createGitlabEndpoint([secret], () => nowS * 1_000)
  const readAt = (nowS: number, sent = {}, body = BODY) => at(nowS).read(Buffer.from(body), { ...headers, ...sent })

  it('is accepted in the example of the specification', () => {
    expect(readAt(SENT_S)).toEqual({ kind: 'unwanted' })
    expect(readAt(SENT_S, {}, BODY.replace('pipeline', 'deploy'))).toEqual({ kind: 'unauthorized' })
    expect(readAt(SENT_S, { 'webhook-id': 'another' })).toEqual({ kind: 'unauthorized' })
  })

  it('may be one of several', () => {
    const several = `v1,${createHmac('sha256', 'x').update('').digest('base64')} ${headers['webhook-signature']}`
    expect(readAt(SENT_S, { 'webhook-signature': several })).toEqual({ kind: 'unwanted' })
  })

  it('is valid for five minutes, so that nobody can replay a recorded delivery', () => {
    expect(readAt(SENT_S + 300)).toEqual({ kind: 'unwanted' })
    expect(readAt(SENT_S + 301)).toEqual({ kind: 'unauthorized' })
    expect(readAt(SENT_S - 301)).toEqual({ kind: 'unauthorized' })
    for (const timestamp of ['', 'soon', 'Infinity'])
      expect(readAt(SENT_S, { 'webhook-timestamp': timestamp })).toEqual({ kind: 'unauthorized' })
  })

  it('cannot be replaced by the signing token in plain text', () => {
    const presented = { 'x-gitlab-event': 'Job Hook', 'x-gitlab-token': SIGNING }
    expect(at(SENT_S).read(Buffer.from(BODY), presented)).toEqual({ kind: 'unauthorized' })
  })
})
