import { describe, expect, onTestFinished, test } from 'vitest'
import { clientCredentialsAuth, staticAuth } from '../../../src/sources/ci-service/auth.ts'
import { certainlyUndone } from '../../../src/sources/http/errors.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import type { StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createTestClientV2, createTestClock, createTestTransport, uuidOf } from './support.ts'

type Options = Parameters<typeof createTestClientV2>[1]

const stop = { projectUuid: toUuid(uuidOf(11)), buildUuid: toUuid(uuidOf(512)) }

const stopAt = (baseUrl: string, options: Options = {}, signal?: AbortSignal) =>
  ciErrorOf(createTestClientV2(baseUrl, options).stopBuild(stop, signal))

const stopThrough = async (answer: StubAnswer, options: Options = {}, signal?: AbortSignal) => {
  await using stub = await startHttpStub(() => answer)
  return await stopAt(stub.url, options, signal)
}

const silent: StubAnswer = () => undefined

/** A token endpoint; it never answers if no answer is given. */
async function tokensFrom(answer: StubAnswer = silent) {
  const stub = await startHttpStub(() => answer)
  onTestFinished(() => stub[Symbol.asyncDispose]())
  const [clock, transport] = [createTestClock(), createTestTransport()]
  return clientCredentialsAuth({ tokenUrl: stub.url, clientId: 'ada', clientSecret: 'pass', transport, clock })
}

test.each([
  [400, true],
  [401, true],
  [403, true],
  [404, true],
  [408, false],
  [409, true],
  [410, true],
  [422, true],
  [429, true],
  [499, true],
  [302, false],
  [500, false],
  [502, false],
  [503, false],
  [504, false],
])('after the status %i it is certain that nothing was done: %s', async (status, undone) => {
  const error = await stopThrough({ status, headers: { location: '/x' } })
  expect(error.status).toBe(status)
  expect(certainlyUndone(error)).toBe(undone)
})

describe('it is certain that nothing was done', () => {
  const tls = (url: string) => url.replace('http:', 'https:')

  test.each([
    ['nobody listens', 'http://127.0.0.1:1', 'unreachable', 'ECONNREFUSED'],
    ['the host name is invalid', 'http://a..b', 'unreachable', 'ENOTFOUND'],
  ])('when %s', async (_fault, url, kind, code) => {
    const error = await stopAt(url)
    expect(error).toMatchObject({ kind, retryable: true, cause: { code } })
    expect(certainlyUndone(error)).toBe(true)
  })

  test('when the TLS connection cannot be established', async () => {
    await using stub = await startHttpStub(() => ({ status: 202 }))
    expect(certainlyUndone(await stopAt(tls(stub.url)))).toBe(true)
    expect(stub.requests).toHaveLength(0)
  })

  test('when there is no connection in time', async () => {
    const { createServer } = await import('node:net')
    const mute = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void mute.close())
    await new Promise((resolve) => mute.once('listening', resolve))
    const address = mute.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const error = await stopAt(`https://127.0.0.1:${port}`, { limits: { connectTimeoutMs: 50 } })
    expect(error).toMatchObject({ kind: 'timeout', retryable: true, cause: { code: 'UND_ERR_CONNECT_TIMEOUT' } })
    expect(certainlyUndone(error)).toBe(true)
  })

  test('when the credential cannot be sent in a header', async () => {
    const error = await stopThrough({ status: 202 }, { auth: staticAuth('Bearer a\nb') })
    expect(error).toMatchObject({ kind: 'bad-request', retryable: false })
    expect(certainlyUndone(error)).toBe(true)
  })

  test.each<[string, StubAnswer, string]>([
    ['500', { status: 500 }, 'CI_TOKEN_SERVER'],
    ['an answer without a token', { json: {} }, 'CI_TOKEN_SHAPE'],
    ['a closed connection', (response) => void response.destroy(), 'CI_TOKEN_UNREACHABLE'],
  ])('when no token could be obtained: %s', async (_fault, answer, code) => {
    const error = await stopThrough({ status: 202 }, { auth: await tokensFrom(answer) })
    expect(error.code).toBe(code)
    expect(certainlyUndone(error)).toBe(true)
  })

  test('when the time ran out during the wait for a token', async () => {
    const error = await stopThrough({ status: 202 }, { auth: await tokensFrom() }, AbortSignal.timeout(30))
    expect(error.kind).toBe('timeout')
    expect(certainlyUndone(error)).toBe(true)
  })

  test('when no new token could be obtained after a 401', async () => {
    const auth = {
      ...staticAuth('Bearer old'),
      renewed: async () => (await tokensFrom({ status: 500 })).authorization(),
    }
    const error = await stopThrough({ status: 401 }, { auth })
    expect(error.code).toBe('CI_TOKEN_SERVER')
    expect(certainlyUndone(error)).toBe(true)
  })
})

describe('once the request may have arrived, it is not certain that nothing was done', () => {
  test.each<[string, StubAnswer, string]>([
    ['the connection closes', (response) => void response.destroy(), 'unreachable'],
    ['the connection is reset', (response) => void response.socket?.resetAndDestroy(), 'unreachable'],
    ['the answer is not HTTP', (response) => void response.socket?.end('what?\r\n\r\n'), 'unreachable'],
    ['the headers break off', (response) => void response.socket?.end('HTTP/1.1 202 Acc'), 'unreachable'],
    ['no answer comes', silent, 'timeout'],
  ])('when %s', async (_fault, answer, kind) => {
    const error = await stopThrough(answer, { limits: { headersTimeoutMs: 50 } })
    expect(error).toMatchObject({ kind, retryable: false })
    expect(certainlyUndone(error)).toBe(false)
  })

  test('when the time limit of the caller has passed', async () => {
    const error = await stopThrough(silent, {}, AbortSignal.timeout(50))
    expect(error).toMatchObject({ kind: 'timeout', retryable: false })
    expect(certainlyUndone(error)).toBe(false)
  })

  test('when the deadline has passed', async () => {
    const error = await stopThrough(silent, { limits: { deadlineMs: 50 } })
    expect(error).toMatchObject({ kind: 'timeout', retryable: false })
    expect(certainlyUndone(error)).toBe(false)
  })
})

test.each([new Error('no longer wanted'), new TypeError('fetch failed'), null, 'ECONNREFUSED', { isUndone: true }])(
  'an error that does not come from CI gives no certainty: %s',
  (error) => {
    expect(certainlyUndone(error)).toBe(false)
  },
)
