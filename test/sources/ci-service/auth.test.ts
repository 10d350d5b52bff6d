import { describe, expect, test } from 'vitest'
import { clientCredentialsAuth, staticAuth } from '../../../src/sources/ci-service/auth.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import type { StubAnswer, StubRequest } from '../../support/http-stub.ts'
import { ciErrorOf, createTestClientV2, createTestClock, createTestTransport, project } from './support.ts'

const SECRET = 'p&ss:wörd'
const isTokenRequest = ({ path }: StubRequest) => path === '/oauth/token'

/** A CI with a token endpoint that gives t1, t2, …; it answers a listing if `accepts` allows its token. */
async function startCi({
  token = (n) => ({ json: { access_token: `t${n}`, token_type: 'bearer', expires_in: 3_600 } }),
  accepts = () => true,
}: {
  token?: (n: number, request: StubRequest) => StubAnswer | Promise<StubAnswer>
  accepts?: (authorization: string) => boolean
} = {}) {
  let asked = 0
  const stub = await startHttpStub((request) => {
    if (isTokenRequest(request)) return token(++asked, request)
    return accepts(request.headers.authorization ?? '')
      ? { json: { projects: [project(1)], total: 1 } }
      : { status: 401 }
  })
  const clock = createTestClock()
  const tokenUrl = `${stub.url}/oauth/token`
  const transport = createTestTransport({ clock })
  const auth = clientCredentialsAuth({ tokenUrl, clientId: 'ada', clientSecret: SECRET, transport, clock })
  const client = createTestClientV2(stub.url, { auth, clock })
  return {
    clock,
    auth,
    list: (signal?: AbortSignal) => client.listProjects({}, signal),
    tokenRequests: () => stub.requests.filter(isTokenRequest),
    sent: () => stub.requests.filter((request) => !isTokenRequest(request)).map(({ headers }) => headers.authorization),
    [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose](),
  }
}

describe('a token', () => {
  test('is requested with client credentials as HTTP Basic, and sent as Bearer', async () => {
    await using ci = await startCi()
    await ci.list()
    const [request] = ci.tokenRequests()
    expect(request!.method).toBe('POST')
    expect(request!.body).toBe('grant_type=client_credentials')
    const pair = Buffer.from(request!.headers.authorization!.slice('Basic '.length), 'base64').toString()
    expect(pair.split(':').map(decodeURIComponent)).toEqual(['ada', SECRET])
    expect(ci.sent()).toEqual(['Bearer t1'])
  })

  test('is requested with the credentials in the form if the endpoint wants that, and in the form from then on', async () => {
    await using ci = await startCi({
      token: (n, { body }) =>
        new URLSearchParams(body).get('client_secret') === SECRET
          ? { json: { access_token: `t${n}`, expires_in: 100 } }
          : { status: 400, json: { error: 'invalid_client' } },
    })
    await ci.list()
    ci.clock.advance(100_000)
    await ci.list()
    expect(ci.sent()).toEqual(['Bearer t2', 'Bearer t3'])
    expect(ci.tokenRequests().map(({ headers }) => headers.authorization !== undefined)).toEqual([true, false, false])
  })

  test('is requested only once, even if many calls need it at once', async () => {
    await using ci = await startCi()
    await Promise.all(Array.from({ length: 50 }, () => ci.list()))
    expect(ci.tokenRequests()).toHaveLength(1)
    expect(ci.sent()).toHaveLength(50)
    expect(new Set(ci.sent())).toEqual(new Set(['Bearer t1']))
  })

  test('is used until shortly before it expires, and is then renewed', async () => {
    await using ci = await startCi()
    await ci.list()
    ci.clock.advance(3_539_999)
    await ci.list()
    expect(ci.tokenRequests()).toHaveLength(1)
    ci.clock.advance(1)
    await ci.list()
    expect(ci.sent()).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2'])
  })

  test('with a short lifetime is renewed after half of it', async () => {
    await using ci = await startCi({ token: (n) => ({ json: { access_token: `t${n}`, expires_in: '60' } }) })
    await ci.list()
    ci.clock.advance(29_999)
    await ci.list()
    ci.clock.advance(1)
    await ci.list()
    expect(ci.sent()).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2'])
  })

  test('without a lifetime is used until it is refused', async () => {
    let refused = ''
    await using ci = await startCi({
      token: (n) => ({ json: { access_token: `t${n}`, token_type: 'MAC-like' } }),
      accepts: (authorization) => authorization !== refused,
    })
    await ci.list()
    ci.clock.advance(1e12)
    await ci.list()
    expect(ci.tokenRequests()).toHaveLength(1)
    refused = 'MAC-like t1'
    await ci.list()
    expect(ci.sent().at(-1)).toBe('MAC-like t2')
  })
})

describe('after a 401', () => {
  test('a token that another call has renewed meanwhile is used, and no new one is requested', async () => {
    await using ci = await startCi()
    const refused = await ci.auth.authorization()
    expect(await ci.auth.renewed(refused)).toBe('Bearer t2')
    expect(await ci.auth.renewed(refused)).toBe('Bearer t2')
    expect(ci.tokenRequests()).toHaveLength(2)
  })

  test('fifty calls at once renew the token only once, and all succeed', async () => {
    let refused = ''
    await using ci = await startCi({ accepts: (authorization) => authorization !== refused })
    await ci.list()
    refused = 'Bearer t1'
    const lists = await Promise.all(Array.from({ length: 50 }, () => ci.list()))
    expect(lists.every(({ projects }) => projects.length === 1)).toBe(true)
    expect(ci.tokenRequests()).toHaveLength(2)
  })

  test('a second 401 ends the call', async () => {
    await using ci = await startCi({ accepts: () => false })
    expect(await ciErrorOf(ci.list())).toMatchObject({ kind: 'unauthorized', code: 'CI_UNAUTHORIZED', status: 401 })
    expect(ci.sent()).toEqual(['Bearer t1', 'Bearer t2'])
  })

  test('a call with the same token again is not repeated', async () => {
    await using ci = await startCi({ token: () => ({ json: { access_token: 'same' } }), accepts: () => false })
    expect((await ciErrorOf(ci.list())).code).toBe('CI_UNAUTHORIZED')
    expect(ci.sent()).toEqual(['Bearer same'])
  })

  test('a call with a static value is not repeated', async () => {
    await using stub = await startHttpStub(() => ({ status: 401 }))
    await ciErrorOf(createTestClientV2(stub.url, { auth: staticAuth('Token x') }).listProjects())
    expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual(['Token x'])
  })
})

describe('an error from the token endpoint', () => {
  test.each([
    [400, 'unauthorized', false],
    [401, 'unauthorized', false],
    [403, 'unauthorized', false],
    [404, 'not-found', false],
    [429, 'rate-limited', true],
    [503, 'server', true],
  ])('with status %i is "%s"', async (status, kind, retryable) => {
    await using ci = await startCi({ token: () => ({ status, json: { error: 'invalid_client' } }) })
    const code = `CI_TOKEN_${kind.replace('-', '_').toUpperCase()}`
    expect(await ciErrorOf(ci.list())).toMatchObject({ kind, status, retryable, code, reason: 'invalid_client' })
    expect(ci.sent()).toEqual([])
  })

  test.each([
    ['no token', { json: { expires_in: 60 } }],
    ['a token that cannot be sent in a header', { json: { access_token: 'a\nb' } }],
    ['a body that is not JSON', { text: 'access_token=t1' }],
    ['an empty body', {}],
  ])('for %s says that the answer has the wrong shape', async (_form, answer) => {
    await using ci = await startCi({ token: () => answer })
    expect(await ciErrorOf(ci.list())).toMatchObject({ kind: 'shape', code: 'CI_TOKEN_SHAPE' })
  })

  test('does not stop the next call from requesting a token again', async () => {
    await using ci = await startCi({
      token: (n) => (n === 1 ? { status: 503 } : { json: { access_token: `t${n}` } }),
    })
    await ciErrorOf(ci.list())
    await ci.list()
    expect(ci.sent()).toEqual(['Bearer t2'])
  })
})

test('a caller that aborts while the token is on its way does not abort it for the others', async () => {
  const [gate, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using ci = await startCi({
    token: async () => {
      arrived.resolve()
      await gate.promise
      return { json: { access_token: 't1' } }
    },
  })
  const controller = new AbortController()
  const [hasty, patient] = [ci.list(controller.signal), ci.list()]
  await arrived.promise
  const reason = new Error('no longer wanted')
  controller.abort(reason)
  await expect(hasty).rejects.toBe(reason)
  gate.resolve()
  expect((await patient).projects).toHaveLength(1)
  expect(ci.tokenRequests()).toHaveLength(1)
})
