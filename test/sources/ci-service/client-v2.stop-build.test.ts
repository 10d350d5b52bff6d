import { describe, expect, test, vi } from 'vitest'
import { staticAuth } from '../../../src/sources/ci-service/auth.ts'
import { createClientV2 } from '../../../src/sources/ci-service/client-v2.ts'
import { certainlyUndone } from '../../../src/sources/http/errors.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import type { SandboxCi } from '../../../packages/sandbox-ci/src/server.ts'
import { startCi } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import type { StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createTestClientV2, createTestTransport, ORGANIZATION, uuidOf } from './support.ts'

const WEB = toUuid(uuidOf(11))
const BUILD = toUuid(uuidOf(512))
const stop = { projectUuid: WEB, buildUuid: BUILD }

describe('a stop is requested', () => {
  test('once, as JSON, with an empty object and the configured Authorization', async () => {
    await using stub = await startHttpStub(() => ({ status: 202 }))
    await createTestClientV2(`${stub.url}/v2/`).stopBuild(stop)
    expect(stub.requests).toMatchObject([
      {
        method: 'POST',
        path: `/v2/organizations/${ORGANIZATION}/projects/${WEB}/builds/${BUILD}/stop`,
        body: '{}',
        headers: { 'content-type': 'application/json', authorization: 'Bearer stub' },
      },
    ])
    expect([...stub.requests[0]!.query]).toEqual([])
  })

  test('under only one address, whatever a uuid contains', async () => {
    await using stub = await startHttpStub(() => ({ status: 202 }))
    await createTestClientV2(stub.url).stopBuild({ projectUuid: WEB, buildUuid: toUuid('a/b?c=1#d e') })
    expect(stub.requests[0]!.path).toMatch(/\/builds\/a%2Fb%3Fc%3D1%23d%20e\/stop$/)
  })
})

describe('a stop succeeds', () => {
  test.each<[string, StubAnswer]>([
    ['202 without a body', { status: 202 }],
    ['204', { status: 204 }],
    ['200 with JSON', { json: { build: { status: 'stopped' } } }],
    ['200 with a page', { text: '<html>' }],
    ['202 with a body that breaks off', (response) => response.writeHead(202).write('half', () => response.destroy())],
  ])('with %s', async (_form, answer) => {
    await using stub = await startHttpStub(() => answer)
    await expect(createTestClientV2(stub.url).stopBuild(stop)).resolves.toBeUndefined()
    expect(stub.requests).toHaveLength(1)
  })

  test.each([
    [302, 'shape'],
    [400, 'bad-request'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [429, 'rate-limited'],
    [500, 'server'],
  ])('but not with %i, and is not repeated', async (status, kind) => {
    await using stub = await startHttpStub(() => ({ status, headers: { location: '/x', 'retry-after': '0' } }))
    const error = await ciErrorOf(createTestClientV2(stub.url).stopBuild(stop))
    expect(error).toMatchObject({ kind, status })
    expect(error.message).toContain(`(stop a build, HTTP ${status})`)
    expect(stub.requests).toHaveLength(1)
  })
})

describe('a stop that gets a 401', () => {
  const auth = { ...staticAuth('Bearer old'), renewed: () => Promise.resolve('Bearer new') }

  test('is repeated with a renewed token', async () => {
    await using stub = await startHttpStub((_, at) => ({ status: at === 0 ? 401 : 202 }))
    await createTestClientV2(stub.url, { auth }).stopBuild(stop)
    expect(stub.requests.map(({ headers, body }) => [headers.authorization, body])).toEqual([
      ['Bearer old', '{}'],
      ['Bearer new', '{}'],
    ])
  })

  test('a second time is not repeated', async () => {
    await using stub = await startHttpStub(() => ({ status: 401 }))
    const error = await ciErrorOf(createTestClientV2(stub.url, { auth }).stopBuild(stop))
    expect(error.kind).toBe('unauthorized')
    expect(stub.requests).toHaveLength(2)
  })
})

describe('in the sandbox', () => {
  const clientOf = (ci: SandboxCi, authorization = ci.address().authorization) => {
    const { baseUrl, organizationUuid } = ci.address()
    return createClientV2({
      baseUrl,
      organizationUuid,
      auth: staticAuth(authorization),
      transport: createTestTransport(),
    })
  }

  const running = (ci: SandboxCi) => {
    const pushed = ci.push('acme/web', { branch: 'main', outcome: 'none' })
    const project = ci.state().projects.find(({ name }) => name === 'acme/web')
    if (pushed.kind !== 'build' || !project) throw new Error('nothing runs')
    return { projectUuid: toUuid(project.uuid), buildUuid: toUuid(pushed.build.uuid) }
  }

  const statusOf = (ci: SandboxCi, { buildUuid }: { buildUuid: string }) =>
    ci.state().builds.find(({ uuid }) => uuid === buildUuid)?.status

  test('a running build stops', async () => {
    const ci = await startCi()
    const build = running(ci)
    await clientOf(ci).stopBuild(build)
    await vi.waitFor(() => expect(statusOf(ci, build)).toBe('stopped'))
    expect(ci.calls().map(({ method, body, statusCode }) => [method, body, statusCode])).toEqual([['POST', '{}', 202]])
  })

  test('a build that no longer runs is not stopped, and certainly nothing was done', async () => {
    const ci = await startCi()
    const build = running(ci)
    ci.finish(build.buildUuid, 'success')
    const error = await ciErrorOf(clientOf(ci).stopBuild(build))
    expect(error.kind).toBe('bad-request')
    expect(certainlyUndone(error)).toBe(true)
    expect(statusOf(ci, build)).toBe('success')
  })

  test('a build goes on if the stop names a project that does not have it', async () => {
    const ci = await startCi()
    const build = running(ci)
    expect((await ciErrorOf(clientOf(ci).stopBuild({ ...build, projectUuid: WEB }))).kind).toBe('not-found')
    expect(statusOf(ci, build)).toBe('initiated')
  })

  test('a build goes on without the permission to stop it', async () => {
    const ci = await startCi()
    const build = running(ci)
    const error = await ciErrorOf(clientOf(ci, 'Bearer sandbox-token-project-read').stopBuild(build))
    expect(error.kind).toBe('forbidden')
    expect(statusOf(ci, build)).toBe('initiated')
  })

  test('a build stops even if the answer is lost: the outcome is unknown, and the request is sent only once', async () => {
    const ci = await startCi()
    const build = running(ci)
    ci.addFault({ kind: 'lost-answer', where: 'v2' })
    const error = await ciErrorOf(clientOf(ci).stopBuild(build))
    expect(error).toMatchObject({ kind: 'unreachable', retryable: false })
    expect(certainlyUndone(error)).toBe(false)
    expect(ci.calls()).toHaveLength(1)
    await vi.waitFor(() => expect(statusOf(ci, build)).toBe('stopped'))
  })
})
