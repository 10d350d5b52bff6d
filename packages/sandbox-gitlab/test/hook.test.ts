import { describe, expect, test } from 'vitest'
import { signed } from '../src/hook.ts'
import type { Status } from '../src/state.ts'
import { pushed, quickClock, startGitlab, startReceiver } from './support.ts'

interface Body {
  object_attributes: { status: string; detailed_status: string; finished_at: string | null }
  builds: { id: number; name: string; status: string; failure_reason: string | null }[]
}
const bodyOf = ({ body }: { body: string }) => JSON.parse(body) as Body
const statusOf = (one: { body: string }) => bodyOf(one).object_attributes.status

async function started(options: Parameters<typeof startGitlab>[0] = {}) {
  const receiver = await startReceiver()
  const clock = quickClock()
  const gitlab = await startGitlab({ webhookUrl: receiver.url, clock, ...options })
  return { receiver, clock, gitlab, statuses: () => receiver.received.map(statusOf) }
}

describe('a Pipeline Hook', () => {
  test('comes with the headers of GitLab: the address of its instance is without a path', async () => {
    const { gitlab, receiver } = await started()
    pushed(gitlab, { outcome: 'none' })
    await gitlab.settle()
    expect(gitlab.address().url).toBe(`${gitlab.url}/gitlab`)
    expect(receiver.received[0]!.headers).toMatchObject({
      'x-gitlab-event': 'Pipeline Hook',
      'x-gitlab-token': gitlab.address().webhookToken,
      'x-gitlab-instance': gitlab.url,
    })
  })

  test('names the branch of a merge request, and the request; the REST interface names its ref', async () => {
    const { gitlab, receiver } = await started()
    pushed(gitlab, { mergeRequest: { iid: 3, fork: true }, branch: 'fix', outcome: 'none' })
    await gitlab.settle()
    expect(JSON.parse(receiver.received.at(-1)!.body)).toMatchObject({
      object_attributes: { ref: 'fix', source: 'merge_request_event' },
      merge_request: { iid: 3, source_branch: 'fix', source_project_id: 99, target_project_id: 71 },
    })
  })

  test('says whether the merge request is still open, and whether the branch is the default one', async () => {
    const { gitlab } = await started()
    const { id } = pushed(gitlab, { mergeRequest: {}, branch: 'fix', outcome: 'none' })
    gitlab.closeMergeRequest('acme/web', 1, { merged: true })
    gitlab.finish(id, 'success')
    gitlab.renameDefaultBranch('acme/web', 'trunk')
    pushed(gitlab, { branch: 'trunk', outcome: 'none' })
    await gitlab.settle()
    const sent = gitlab.deliveries().map(({ body }) => JSON.parse(body))
    expect(sent.slice(0, 3).map((body) => body.merge_request.state)).toEqual(['opened', 'opened', 'merged'])
    expect(sent.at(-1)).toMatchObject({
      object_attributes: { protected_ref: true },
      project: { default_branch: 'trunk' },
    })
  })

  test('has the times of newer versions with hasIsoTimes, and those of its jobs as before', async () => {
    const { gitlab, receiver } = await started()
    const { id } = pushed(gitlab, { outcome: 'none' })
    await gitlab.settle()
    gitlab.setSwitches({ hasIsoTimes: true })
    gitlab.finish(id, 'success')
    await gitlab.settle()
    const timesIn = ({ body }: { body: string }) => {
      const { object_attributes: pipeline, builds } = JSON.parse(body)
      return [pipeline.created_at, pipeline.finished_at, builds[0].created_at]
    }
    const text = '2026-08-12 15:23:28 UTC'
    expect(receiver.received.map(timesIn).slice(1)).toEqual([
      [text, null, text],
      ['2026-08-12T15:23:28.000Z', '2026-08-12T15:23:28.000Z', text],
    ])
  })

  test('has no updated_at, no started_at, and none of its trigger jobs', async () => {
    const { gitlab, receiver } = await started()
    pushed(gitlab, { outcome: 'none', jobs: [{ name: 'unit' }, { name: 'deploy', trigger: true }] })
    await gitlab.settle()
    const { object_attributes: pipeline, builds } = JSON.parse(receiver.received.at(-1)!.body)
    expect(Object.keys(pipeline)).not.toContain('updated_at')
    expect(Object.keys(pipeline)).not.toContain('started_at')
    expect(builds.map(({ name }: { name: string }) => name)).toEqual(['unit'])
  })

  test('has only the latest jobs, and keeps finished_at when a retry begins', async () => {
    const { gitlab, receiver, statuses } = await started()
    const { id } = pushed(gitlab, { outcome: 'none' })
    gitlab.finish(id, 'failed', [{ name: 'unit', reason: 'stuck_or_timeout_failure' }])
    gitlab.retry(id, { outcome: 'none' })
    gitlab.finish(id, 'success')
    await gitlab.settle()
    expect(statuses()).toEqual(['pending', 'running', 'failed', 'running', 'success'])
    const [, first, failed, again] = receiver.received.map(bodyOf)
    expect(first!.object_attributes.finished_at).toBeNull()
    expect(failed!.builds.map(({ status, failure_reason }) => [status, failure_reason])).toEqual([
      ['success', null],
      ['failed', 'stuck_or_timeout_failure'],
      ['skipped', null],
    ])
    expect(again!.object_attributes.finished_at).toBe(failed!.object_attributes.finished_at)
    expect(again!.builds.map(({ name }) => name)).toEqual(['compile', 'package', 'unit'])
    expect(again!.builds.at(-1)!.id).toBeGreaterThan(Math.max(...failed!.builds.map((job) => job.id)))
  })

  test('passes with warnings if an allowed failure occurred, and names the parent of a child', async () => {
    const { gitlab, receiver } = await started()
    const { id } = pushed(gitlab, { outcome: 'none' })
    const jobs = [{ name: 'lint', allowFailure: true }, { name: 'unit' }]
    gitlab.finish(pushed(gitlab, { outcome: 'none', parent: id, jobs }).id, 'success', ['lint'])
    await gitlab.settle()
    expect(JSON.parse(receiver.received.at(-1)!.body)).toMatchObject({
      object_attributes: { source: 'parent_pipeline', detailed_status: 'passed with warnings' },
      source_pipeline: { pipeline_id: id, project: { path_with_namespace: 'acme/web' } },
    })
  })

  test('of another project’s pipeline names the trigger job that started it', async () => {
    const { gitlab } = await started()
    const { id, jobs } = pushed(gitlab, {
      outcome: 'none',
      jobs: [{ name: 'unit' }, { name: 'deploy', trigger: true }],
    })
    pushed(gitlab, { outcome: 'none', parent: id }, 'acme/api')
    expect(JSON.parse(gitlab.deliveries().at(-1)!.body)).toMatchObject({
      object_attributes: { source: 'pipeline' },
      source_pipeline: { pipeline_id: id, job_id: jobs[1]!.id, project: { path_with_namespace: 'acme/web' } },
    })
  })

  test.each([
    ['manual', 'waiting for manual action'],
    ['scheduled', 'waiting for delayed job'],
    ['waiting_for_resource', 'waiting for resource'],
    ['waiting_for_callback', 'waiting for callback'],
    ['canceling', 'canceling'],
    ['success', 'passed'],
    ['unheard of', 'unheard of'],
  ])('says of a pipeline that is %s: %s', async (status, label) => {
    const { gitlab, receiver } = await started()
    gitlab.advance(pushed(gitlab, { outcome: 'none' }).id, status as Status)
    await gitlab.settle()
    expect(bodyOf(receiver.received.at(-1)!).object_attributes).toMatchObject({ status, detailed_status: label })
  })

  test('is not sent if the failed manual job of a passed pipeline is retried', async () => {
    const { gitlab, statuses } = await started()
    const { id } = pushed(gitlab, { outcome: 'none', jobs: [{ name: 'deploy', manual: true, allowFailure: true }] })
    gitlab.advance(id, 'manual')
    gitlab.play(id)
    gitlab.finish(id, 'success', ['deploy'])
    expect(gitlab.retry(id)).toMatchObject({ kind: 'changed', pipeline: { status: 'success' } })
    await gitlab.settle()
    expect(statuses()).toEqual(['pending', 'running', 'manual', 'pending', 'running', 'success'])
  })

  test('says running as soon as somebody starts the manual job, where another job has run', async () => {
    const { gitlab, statuses } = await started()
    const { id } = pushed(gitlab, { outcome: 'none', needsManual: true })
    gitlab.advance(id, 'manual')
    gitlab.play(id)
    gitlab.finish(id, 'success')
    await gitlab.settle()
    expect(statuses()).toEqual(['pending', 'running', 'manual', 'running', 'success'])
  })

  test('has the status of when it is sent with isLazy: one status is sent twice, another never', async () => {
    const { gitlab, statuses } = await started()
    gitlab.setSwitches({ isLazy: true })
    pushed(gitlab, { outcome: 'none' })
    await gitlab.settle()
    expect(statuses()).toEqual(['running', 'running'])
  })
})

describe('a delivery', () => {
  test('has the signature of the test vector of Standard Webhooks', () => {
    const token = 'whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q='
    const id = 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f'
    expect(signed(token, id, 1_764_000_000_000, '{"object_kind":"pipeline"}')).toEqual({
      'webhook-id': id,
      'webhook-timestamp': '1764000000',
      'webhook-signature': 'v1,EYpZi6oqOZr6FIuL9IF7Dq/bKAStMDSclCnm/olFMOU=',
    })
  })

  test('keeps its Idempotency-Key and its body when it is sent again, with a new signature', async () => {
    const { gitlab, receiver, clock } = await started({ signingToken: 'whsec_c2VjcmV0', webhookToken: null })
    pushed(gitlab, { outcome: 'none' })
    await gitlab.settle()
    clock.pass(5_000)
    expect([gitlab.resend(1)?.n, gitlab.resend(9)]).toEqual([1, undefined])
    await gitlab.settle()
    const [first, , again] = receiver.received
    expect(again!.body).toBe(first!.body)
    expect(again!.headers['idempotency-key']).toBe(first!.headers['idempotency-key'])
    expect(again!.headers['webhook-id']).toBe(first!.headers['idempotency-key'])
    expect(again!.headers['webhook-signature']).not.toBe(first!.headers['webhook-signature'])
    expect(first!.headers).not.toHaveProperty('x-gitlab-token')
  })

  test('is not retried; the fourth failure in a row disables the webhook for a minute', async () => {
    const { gitlab, receiver, clock } = await started()
    receiver.statusCode = 503
    const push = async () => (pushed(gitlab, { outcome: 'none' }), gitlab.settle())
    for (let n = 0; n < 3; n++) await push()
    expect(receiver.received).toHaveLength(4)
    expect(
      gitlab.deliveries().map(({ state, answers }) => [state, ...answers.map(({ statusCode }) => statusCode)]),
    ).toEqual([...Array.from({ length: 4 }, () => ['answered', 503]), ['off'], ['off']])
    receiver.statusCode = 200
    clock.pass(60_000)
    await push()
    expect(receiver.received).toHaveLength(4)
    clock.pass(1)
    await push()
    expect(receiver.received).toHaveLength(6)
  })
})
