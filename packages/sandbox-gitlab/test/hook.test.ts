import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { signed } from '../src/hook.ts'
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

const EXAMPLE = new URL('../../../test/sources/gitlab/examples/pipeline.json', import.meta.url)

/** Every field with its type, such as `builds[].id number`. For a list, the fields of all its items. */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => shapeOf(one, `${path}[]`))
  if (value === null || typeof value !== 'object') return [`${path} ${value === null ? 'null' : typeof value}`]
  return Object.entries(value).flatMap(([name, inner]) => shapeOf(inner, path === '' ? name : `${path}.${name}`))
}

describe('a Pipeline Hook', () => {
  test('has every field of go-gitlab’s example, with its type', async () => {
    const { gitlab, receiver } = await started()
    const mergeRequest = { iid: 3, fork: true }
    pushed(gitlab, { mergeRequest, queuedMs: 12_000, needsManual: true, variables: { REGION: 'us-west-1' } })
    await expect.poll(() => receiver.received.map(statusOf)).toEqual(['pending', 'running', 'manual'])
    gitlab.play(gitlab.state().pipelines[0]!.id)
    await expect.poll(() => receiver.received.map(statusOf).at(-1)).toBe('success')
    const ours = new Set(shapeOf(JSON.parse(receiver.received.at(-1)!.body)))
    const theirs = new Set(shapeOf(JSON.parse(readFileSync(EXAMPLE, 'utf8'))))
    // In the example, jobs of the last stage have not started, so these fields are null.
    const unbegun = ['builds[].started_at null', 'builds[].finished_at null', 'builds[].runner null']
    expect([...theirs].filter((field) => !ours.has(field))).toEqual(unbegun)
    expect(receiver.received[0]!.headers).toMatchObject({
      'x-gitlab-event': 'Pipeline Hook',
      'x-gitlab-token': gitlab.address().webhookToken,
      'x-gitlab-instance': gitlab.address().url,
    })
  })

  test('has only the latest jobs, and keeps finished_at when a retry begins', async () => {
    const { gitlab, receiver, statuses } = await started()
    const { id } = pushed(gitlab, { outcome: 'none' })
    gitlab.finish(id, 'failed', [{ name: 'unit', reason: 'stuck_or_timeout_failure' }])
    gitlab.retry(id)
    await expect.poll(statuses).toEqual(['pending', 'running', 'failed', 'running', 'success'])
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
