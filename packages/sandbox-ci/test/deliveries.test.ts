import { describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { ANSWER_BYTES_MAX } from '../src/sender.ts'
import { control, pushed, readDelivery, request, startCi, startReceiver, v2 } from './support.ts'

const FIELDS =
  'build_url commit_url project_id build_id status project_full_name project_name commit_id short_commit_id message committer branch'.split(
    ' ',
  )
const COMMIT = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'

describe('a delivery', () => {
  it('is a JSON object build with the twelve fields of the interface and nothing else', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url })
    pushed(ci, {
      outcome: 'none',
      commitId: COMMIT,
      message: 'Fix "login" 🎉',
      committer: 'Grace',
      branch: 'feature/x',
    })
    await ci.settle()
    expect(hook.received[0]!.contentType).toBe('application/json')
    expect(JSON.parse(hook.received[0]!.body)).toEqual({
      build: {
        build_url: `${ci.url}/projects/11/builds/501`,
        commit_url: `https://git.example.com/acme/web/commit/${COMMIT}`,
        project_id: 11,
        build_id: 501,
        status: 'initiated',
        project_full_name: 'acme/web',
        project_name: 'acme/web',
        commit_id: COMMIT,
        short_commit_id: 'a1b2c',
        message: 'Fix "login" 🎉',
        committer: 'Grace',
        branch: 'feature/x',
      },
    })
    expect(Object.keys(readDelivery(hook.received[0]!.body)).toSorted()).toEqual(FIELDS.toSorted())
  })

  it('is logged with its bytes and the answer', async () => {
    const hook = await startReceiver(() => 400)
    const ci = await startCi({ webhookUrl: hook.url })
    pushed(ci, { outcome: 'none' })
    await ci.settle()
    const { json } = await control(ci, 'GET', '/deliveries')
    expect(json).toMatchObject({
      deliveries: [
        {
          n: 1,
          url: hook.url,
          body: hook.received[0]!.body,
          state: 'answered',
          attempts: [{ kind: 'answered', statusCode: 400, body: '{"got":1}' }],
        },
      ],
    })
  })

  it('is logged as failed if the connection is refused', async () => {
    const ci = await startCi({ webhookUrl: 'http://127.0.0.1:1/nobody' })
    pushed(ci, { outcome: 'none' })
    await ci.settle()
    expect(ci.deliveries()).toMatchObject([
      { state: 'failed', attempts: [{ kind: 'failed', errorCode: 'ECONNREFUSED' }] },
    ])
  })

  it('is given up after deliveryTimeoutMs', async () => {
    const slow = await startCi()
    slow.addFault({ kind: 'hang' })
    const ci = await startCi({ webhookUrl: `${slow.url}/projects/x`, switches: { deliveryTimeoutMs: 30 } })
    pushed(ci, { outcome: 'none' })
    await ci.settle()
    expect(ci.deliveries()).toMatchObject([{ state: 'failed', attempts: [{ errorCode: 'timeout' }] }])
  })

  it('is logged with at most ANSWER_BYTES_MAX of the answer', async () => {
    const hook = await startReceiver(() => 200, 'x'.repeat(ANSWER_BYTES_MAX * 4))
    const ci = await startCi({ webhookUrl: hook.url })
    pushed(ci, { outcome: 'none' })
    await ci.settle()
    const attempts = [{ kind: 'answered', statusCode: 200, body: 'x'.repeat(ANSWER_BYTES_MAX) }]
    expect(ci.deliveries()).toMatchObject([{ state: 'answered', attempts }])
  })
})

describe('the switches of deliveries', () => {
  const delivered = async (switches: Record<string, unknown>, push = {}) => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url, switches })
    const build = pushed(ci, { outcome: 'none', ...push })
    await ci.settle()
    return { ci, build, body: hook.received[0]!.body, hook }
  }

  it('extraFields adds uuids and times', async () => {
    const { ci, build, body } = await delivered({ extraFields: true })
    expect(readDelivery(body)).toMatchObject({
      organization_uuid: ci.address().organizationUuid,
      project_uuid: ci.state().projects[0]!.uuid,
      build_uuid: build.uuid,
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/),
      finished_at: null,
    })
  })

  it('timestampForm utc writes them with UTC at the end', async () => {
    const { body } = await delivered({ extraFields: true, timestampForm: 'utc' })
    expect(readDelivery(body)['started_at']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
  })

  it('bigIds writes integers beyond 2^53', async () => {
    const { body } = await delivered({ bigIds: true })
    expect(body).toContain(`"project_id":${2n ** 60n + 11n},"build_id":${2n ** 60n + 501n},`)
  })

  it('idsAsStrings writes strings of digits', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url, switches: { idsAsStrings: true } })
    pushed(ci, { outcome: 'none' })
    await ci.settle()
    expect(hook.received[0]!.body).toContain('"project_id":"11","build_id":"501"')
  })

  it('deliveryStatusWords synonyms says testing', async () => {
    expect(readDelivery((await delivered({ deliveryStatusWords: 'synonyms' })).body).status).toBe('testing')
  })

  it('buildIdForm uuid names the build by its uuid', async () => {
    const { build, body } = await delivered({ buildIdForm: 'uuid' })
    expect(body).toContain(`"build_id":"${build.uuid}"`)
  })

  it('buildUrlForm uuids carries both uuids, and the page is there', async () => {
    const { ci, build, body } = await delivered({ buildUrlForm: 'uuids' })
    const url = String(readDelivery(body)['build_url'])
    expect(url).toBe(`${ci.url}/projects/${ci.state().projects[0]!.uuid}/builds/${build.uuid}`)
    expect((await request('GET', url)).status).toBe(200)
  })

  it('missingFields and nullFields leave fields out and empty', async () => {
    const { body } = await delivered({ missingFields: ['project_full_name', 'committer'], nullFields: ['message'] })
    const build = readDelivery(body)
    expect(Object.keys(build).toSorted()).toEqual(
      FIELDS.filter((name) => name !== 'project_full_name' && name !== 'committer').toSorted(),
    )
    expect(build['message']).toBeNull()
  })

  it('deliveryCopies sends the same thing several times', async () => {
    const { hook } = await delivered({ deliveryCopies: 3 })
    expect(hook.received).toHaveLength(3)
    expect(new Set(hook.received.map(({ body }) => body)).size).toBe(1)
  })

  it('deliverEverything off sends neither waiting nor stopped', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url, switches: { deliverEverything: false } })
    const build = pushed(ci, { needsApproval: true })
    ci.approve(build.uuid)
    ci.finish(build.uuid, 'stopped')
    await ci.settle()
    expect(hook.statuses()).toEqual(['initiated'])
    ci.setSwitches({ deliverEverything: true })
    ci.finish(pushed(ci, { needsApproval: true }).uuid, 'stopped')
    await ci.settle()
    expect(hook.statuses()).toEqual(['initiated', 'waiting', 'stopped'])
  })

  it('deliveryRetriesMax sends again after a refusal, and not after a success', async () => {
    const hook = await startReceiver((n) => (n < 3 ? 503 : 202))
    const ci = await startCi({ webhookUrl: hook.url, switches: { deliveryRetriesMax: 5, deliveryRetryMs: 1 } })
    pushed(ci, { outcome: 'none' })
    await ci.settle()
    expect(ci.deliveries()[0]!.attempts.map((attempt) => attempt.kind === 'answered' && attempt.statusCode)).toEqual([
      503, 503, 202,
    ])
  })

  it('without retries a refused delivery is sent once', async () => {
    const hook = await startReceiver(() => 503)
    const ci = await startCi({ webhookUrl: hook.url })
    pushed(ci, { outcome: 'none' })
    await ci.settle()
    expect(hook.received).toHaveLength(1)
  })

  it('a retry delays the next deliveries of the same build, and none of another build', async () => {
    const retry = Promise.withResolvers<void>()
    const retryMs = 77
    const sleep = (ms: number, signal?: AbortSignal) => (ms === retryMs ? retry.promise : systemClock.sleep(ms, signal))
    const hook = await startReceiver((n) => (n === 1 ? 503 : 202))
    const switches = { deliveryRetriesMax: 1, deliveryRetryMs: retryMs }
    const ci = await startCi({ webhookUrl: hook.url, clock: { now: () => Date.now(), sleep }, switches })
    const first = pushed(ci, { outcome: 'none' })
    await vi.waitFor(() => expect(ci.deliveries()[0]!.attempts).toHaveLength(1))
    ci.finish(first.uuid, 'success')
    pushed(ci, { outcome: 'none' })
    await vi.waitFor(() => expect(ci.deliveries()[2]!.state).toBe('answered'))
    retry.resolve()
    await ci.settle()
    const told = hook.received
      .map(({ body }) => readDelivery(body))
      .map(({ build_id: id, status }) => `${id} ${status}`)
    expect(told).toEqual(['501 initiated', '502 initiated', '501 initiated', '501 success'])
  })

  it('orderedPerBuild off lets deliveries of one build overtake each other', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url, switches: { orderedPerBuild: false, disorderMs: 40 } })
    for (let n = 0; n < 20; n++) ci.finish(pushed(ci, { outcome: 'none' }).uuid, 'success')
    await ci.settle()
    const ids = hook.received.map(({ body }) => readDelivery(body)).map(({ build_id: id, status }) => `${id} ${status}`)
    expect(ids).toHaveLength(40)
    expect(ids).not.toEqual(ids.toSorted())
  })
})

describe('which rules send', () => {
  it('sends to each webhook rule that selects the branch and event, and to no other notifier', async () => {
    const [main, failures] = [await startReceiver(), await startReceiver()]
    const ci = await startCi()
    const every = ['started', 'failed', 'success', 'recovered']
    const rules = [
      { notifier: 'webhook', branch: 'main', build_statuses: every, options: { webhook: { url: main.url } } },
      {
        notifier: 'webhook',
        branch: 'release/*',
        branch_match: 'wildcard',
        build_statuses: ['failed'],
        options: { webhook: { url: failures.url } },
      },
      { notifier: 'email', build_statuses: every },
    ]
    await v2(ci, 'PUT', `/projects/${ci.state().projects[0]!.uuid}`, { type: 'basic', notification_rules: rules })
    for (const branch of ['main', 'release/1', 'dev']) {
      ci.finish(pushed(ci, { branch, outcome: 'none' }).uuid, 'error')
    }
    await ci.settle()
    expect([main.statuses(), failures.statuses()]).toEqual([['initiated', 'error'], ['error']])
    expect((await control(ci, 'GET', '/decisions')).json).toMatchObject({ decisions: { length: 18 } })
  })
})

describe('resending', () => {
  it('sends several deliveries one after the other, in the requested order', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url, switches: { holdDeliveries: true } })
    const { uuid } = pushed(ci, { needsApproval: true, outcome: 'none' })
    ci.approve(uuid)
    ci.finish(uuid, 'error')
    const order = [3, 1, 2, 3, 1, 2, 2]
    expect(ci.resendInOrder([...order, 99])).toEqual(order)
    await ci.settle()
    const statuses = ['waiting', 'initiated', 'error']
    expect(hook.statuses()).toEqual(order.map((n) => statuses[n - 1]))
  })

  it('sends held deliveries in any order, byte for byte', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url, switches: { holdDeliveries: true } })
    ci.finish(pushed(ci, { outcome: 'none' }).uuid, 'error')
    await ci.settle()
    expect(hook.received).toHaveLength(0)
    expect(ci.deliveries()).toMatchObject([{ state: 'held' }, { state: 'held' }])
    expect((await control(ci, 'POST', '/deliveries/2/resend')).status).toBe(202)
    await ci.settle()
    expect((await control(ci, 'POST', '/deliveries/resend', { order: [1, 2, 99] })).json).toEqual({ resent: [1, 2] })
    await ci.settle()
    expect(hook.statuses().toSorted()).toEqual(['error', 'error', 'initiated'])
    expect(hook.statuses()[0]).toBe('error')
    expect(hook.received[0]!.body).toBe(ci.deliveries()[1]!.body)
    expect((await control(ci, 'GET', '/deliveries/2')).json).toMatchObject({
      state: 'answered',
      attempts: { length: 2 },
    })
  })

  it('answers 404 for an unknown delivery', async () => {
    const ci = await startCi()
    expect((await control(ci, 'POST', '/deliveries/1/resend')).status).toBe(404)
    expect((await control(ci, 'GET', '/deliveries/1')).status).toBe(404)
  })
})
