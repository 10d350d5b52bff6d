import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createClientLegacy } from '../../../src/sources/ci-service/client-legacy.ts'
import { certainlyUndone } from '../../../src/sources/http/errors.ts'
import type { SandboxCi, SandboxCiOptions } from '../../../packages/sandbox-ci/src/server.ts'
import { startCi } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import type { StubAnswer } from '../../support/http-stub.ts'
import { buildIdOf, ciErrorOf, createTestClientLegacy, createTestTransport, uuidOf } from './support.ts'

const BUILD = buildIdOf('512')

const restarted = async (answer: StubAnswer) => {
  await using stub = await startHttpStub(() => answer)
  return await createTestClientLegacy(stub.url).restartBuild(BUILD)
}

test('a restart sends one request, with the key only in the query', async () => {
  await using stub = await startHttpStub(() => ({ json: {} }))
  await createTestClientLegacy(`${stub.url}/ci/`, { apiKey: 'k&y=1' }).restartBuild(BUILD)
  const [request] = stub.requests
  expect(request).toMatchObject({ method: 'POST', path: '/ci/api/v1/builds/512/restart.json', body: '' })
  expect(Object.fromEntries(request!.query)).toEqual({ api_key: 'k&y=1' })
  expect(inspect(request!.headers)).not.toContain('k&y')
  expect(stub.requests).toHaveLength(1)
})

describe('the restarted build is read', () => {
  test.each<[string, StubAnswer]>([
    ['bare', { json: { id: 512, uuid: uuidOf(512) } }],
    ['wrapped', { json: { build: { id: 512, uuid: uuidOf(512) } } }],
    ['with its id as digits', { json: { id: '512', uuid: uuidOf(512).toUpperCase(), status: 'initiated' } }],
    ['from a 201', { status: 201, json: { id: 512, uuid: uuidOf(512) } }],
    [
      'from JSON that arrived completely before the connection broke',
      (response) => {
        response.writeHead(200, { 'content-length': '999' })
        response.write(JSON.stringify({ id: 512, uuid: uuidOf(512) }), () => response.destroy())
      },
    ],
  ])('%s', async (_form, answer) => {
    expect(await restarted(answer)).toEqual({ id: '512', uuid: uuidOf(512) })
  })

  test('with an id beyond 2^53, exact to the last digit', async () => {
    expect((await restarted({ text: '{"id":18446744073709551615}' })).id).toBe('18446744073709551615')
  })

  test.each([
    [
      { id: 'x', uuid: uuidOf(512) },
      { id: null, uuid: uuidOf(512) },
    ],
    [
      { id: 512, uuid: 'x' },
      { id: '512', uuid: null },
    ],
    [{ id: 1.5 }, { id: null, uuid: null }],
  ])('in part, if only a part is usable: %j', async (json, expected) => {
    expect(await restarted({ json })).toEqual(expected)
  })
})

describe('a 2xx without a usable body is still a restart', () => {
  test.each<[string, StubAnswer]>([
    ['an empty body', { status: 202 }],
    ['a page', { text: '<html>ok</html>' }],
    ['half a JSON text', { text: '{"id":5' }],
    ['a list', { json: [{ id: 512 }] }],
    ['null', { json: null }],
    ['a build of the wrong type', { json: { build: 'yes' } }],
    ['a body that breaks off', (response) => response.writeHead(200).write('{"id"', () => response.destroy())],
  ])('%s', async (_form, answer) => {
    expect(await restarted(answer)).toEqual({ id: null, uuid: null })
  })
})

describe('a restart that fails', () => {
  const KEY = 'canary/Ab+1'

  test.each<[number, string, boolean]>([
    [400, 'bad-request', true],
    [401, 'unauthorized', true],
    [404, 'not-found', true],
    [429, 'rate-limited', true],
    [500, 'server', false],
    [503, 'server', false],
  ])('with %i is %s, is sent only once, and shows no key', async (status, kind, undone) => {
    const text = `no build for ${KEY} or api_key=${encodeURIComponent(KEY)}`
    await using stub = await startHttpStub(() => ({ status, text, headers: { 'retry-after': '0' } }))
    const error = await ciErrorOf(createTestClientLegacy(stub.url, { apiKey: KEY }).restartBuild(BUILD))
    expect(error).toMatchObject({ kind, status })
    expect(certainlyUndone(error)).toBe(undone)
    expect(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)).not.toMatch(/canary/)
    expect(stub.requests).toHaveLength(1)
  })
})

describe('in the sandbox', () => {
  const clientOf = (ci: SandboxCi) => {
    const { legacyBaseUrl: baseUrl, apiKey } = ci.address()
    return createClientLegacy({ baseUrl, apiKey, transport: createTestTransport() })
  }

  const built = (ci: SandboxCi, project = 'acme/web') => {
    const pushed = ci.push(project, { branch: 'main', outcome: 'none' })
    if (pushed.kind !== 'build') throw new Error('nothing was built')
    return { id: buildIdOf(pushed.build.id), uuid: pushed.build.uuid }
  }

  const failed = (ci: SandboxCi, project = 'acme/web') => {
    const build = built(ci, project)
    ci.finish(build.uuid, 'error')
    return build
  }

  const attemptsOf = (ci: SandboxCi, { uuid }: { uuid: string }) =>
    ci.state().builds.find((build) => build.uuid === uuid)!.runs.length

  test.each<[string, SandboxCiOptions['switches']]>([
    ['with ordinary ids', {}],
    ['with large ids', { bigIds: true }],
    ['with ids as strings', { idsAsStrings: true, restartStatusCode: 202 }],
  ])('a failed build runs again, %s', async (_form, switches = {}) => {
    const ci = await startCi({ switches: { restartOutcome: 'none', ...switches } })
    const build = failed(ci)
    expect(await clientOf(ci).restartBuild(build.id)).toEqual(build)
    expect(attemptsOf(ci, build)).toBe(2)
  })

  test('a failed build may become another build', async () => {
    const ci = await startCi({ switches: { restartOutcome: 'none', restartKeepsId: false } })
    const build = failed(ci)
    const newest = await clientOf(ci).restartBuild(build.id)
    expect(newest.id).not.toBe(build.id)
    expect(ci.state().builds.map(({ id, uuid }) => ({ id, uuid }))).toContainEqual(newest)
    expect(attemptsOf(ci, build)).toBe(1)
  })

  test('a build that still runs is not restarted', async () => {
    const ci = await startCi()
    const build = built(ci)
    expect((await ciErrorOf(clientOf(ci).restartBuild(build.id))).kind).toBe('bad-request')
    expect(attemptsOf(ci, build)).toBe(1)
  })

  test('a build of a Pro project is not found', async () => {
    const ci = await startCi()
    const build = failed(ci, 'acme/ios')
    expect((await ciErrorOf(clientOf(ci).restartBuild(build.id))).kind).toBe('not-found')
    expect(attemptsOf(ci, build)).toBe(1)
  })

  test('a build runs again if the answer is lost: the outcome is unknown, and the request is sent only once', async () => {
    const ci = await startCi({ switches: { restartOutcome: 'none' } })
    const build = failed(ci)
    ci.addFault({ kind: 'lost-answer', where: 'legacy' })
    const error = await ciErrorOf(clientOf(ci).restartBuild(build.id))
    expect(error).toMatchObject({ kind: 'unreachable', retryable: false })
    expect(certainlyUndone(error)).toBe(false)
    expect(attemptsOf(ci, build)).toBe(2)
  })
})
