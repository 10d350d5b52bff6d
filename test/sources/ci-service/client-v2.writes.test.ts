import { describe, expect, test } from 'vitest'
import { staticAuth } from '../../../src/sources/ci-service/auth.ts'
import { certainlyUndone } from '../../../src/sources/http/errors.ts'
import type { ClientV2 } from '../../../src/sources/ci-service/client-v2.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import type { StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createTestClientV2, ORGANIZATION, project, uuidOf } from './support.ts'

const WEB = toUuid(uuidOf(1))
const PROJECTS = `/v2/organizations/${ORGANIZATION}/projects`

const WRITES: [string, (client: ClientV2, signal?: AbortSignal) => Promise<unknown>, string, string, unknown][] = [
  [
    'create a project',
    (client, signal) =>
      client.createProject(
        { repository_url: 'https://git.example.com/acme/web.git', type: 'basic', team_ids: ['7'] },
        signal,
      ),
    'POST',
    PROJECTS,
    { repository_url: 'https://git.example.com/acme/web.git', type: 'basic', team_ids: [7] },
  ],
  [
    'update a project',
    (client, signal) => client.updateProject(WEB, { type: 'basic', uuid: WEB, branches: ['main'] }, signal),
    'PUT',
    `${PROJECTS}/${WEB}`,
    { type: 'basic', branches: ['main'] },
  ],
  [
    'reset an AES key',
    (client, signal) => client.resetAesKey(WEB, signal),
    'POST',
    `${PROJECTS}/${WEB}/reset_aes_key`,
    {},
  ],
]

describe.each(WRITES)('to %s', (purpose, write, method, path, body) => {
  test('CI gets one request, with JSON and the configured Authorization', async () => {
    await using stub = await startHttpStub(() => ({ json: project(1) }))
    await write(createTestClientV2(`${stub.url}/v2/`))
    expect(stub.requests).toMatchObject([
      { method, path, headers: { 'content-type': 'application/json', authorization: 'Bearer stub' } },
    ])
    expect(JSON.parse(stub.requests[0]!.body)).toEqual(body)
  })

  test.each([
    [302, 'shape', false],
    [400, 'bad-request', true],
    [403, 'forbidden', true],
    [404, 'not-found', true],
    [422, 'bad-request', true],
    [429, 'rate-limited', true],
    [500, 'server', false],
    [503, 'server', false],
  ])('after %i the request is not repeated, and %s is certainly undone: %s', async (status, kind, undone) => {
    await using stub = await startHttpStub(() => ({ status, headers: { location: '/x', 'retry-after': '0' } }))
    const error = await ciErrorOf(write(createTestClientV2(stub.url)))
    expect(error).toMatchObject({ kind, status })
    expect(error.message).toContain(`(${purpose}, HTTP ${status})`)
    expect(certainlyUndone(error)).toBe(undone)
    expect(stub.requests).toHaveLength(1)
  })

  test.each<[string, StubAnswer, string]>([
    ['the connection closes', (response) => void response.destroy(), 'unreachable'],
    ['no answer comes', () => undefined, 'timeout'],
  ])('if %s the request is not repeated, and the outcome is unknown', async (_fault, answer, kind) => {
    await using stub = await startHttpStub(() => answer)
    const error = await ciErrorOf(write(createTestClientV2(stub.url, { limits: { headersTimeoutMs: 100 } })))
    expect(error).toMatchObject({ kind, retryable: false })
    expect(certainlyUndone(error)).toBe(false)
    expect(stub.requests).toHaveLength(1)
  })

  test('a caller who aborts gets their own reason', async () => {
    const patience = new AbortController()
    await using stub = await startHttpStub(() => (patience.abort(new Error('enough')), () => undefined))
    await expect(write(createTestClientV2(stub.url), patience.signal)).rejects.toThrow('enough')
  })

  test('after a 401 the request is repeated once, with a renewed token', async () => {
    const auth = { ...staticAuth('Bearer old'), renewed: () => Promise.resolve('Bearer new') }
    await using stub = await startHttpStub((_, at) => (at === 0 ? { status: 401 } : { json: project(1) }))
    await write(createTestClientV2(stub.url, { auth }))
    expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new'])
    expect(stub.requests[1]!.body).toBe(stub.requests[0]!.body)
  })

  test('after a second 401 the request is not repeated', async () => {
    const auth = { ...staticAuth('Bearer old'), renewed: () => Promise.resolve('Bearer new') }
    await using stub = await startHttpStub(() => ({ status: 401 }))
    expect((await ciErrorOf(write(createTestClientV2(stub.url, { auth })))).kind).toBe('unauthorized')
    expect(stub.requests).toHaveLength(2)
  })
})
