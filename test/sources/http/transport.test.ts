import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { RETRY_AFTER_MS_MAX, type CiRequest } from '../../../src/sources/http/exchange.ts'
import { TRANSPORT_LIMITS } from '../../../src/sources/http/transport.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createTestClock, createTestTransport } from '../ci-service/support.ts'

const requestTo = (url: string, more: Partial<CiRequest> = {}): CiRequest => ({
  method: 'GET',
  url: new URL('/thing?q=1', url),
  purpose: 'fetch a thing',
  secrets: [],
  ...more,
})

const FINE: StubAnswer = { text: 'fine' }

/** Sends one GET to a stub that gives the answers in order, and repeats the last one forever. */
async function sendThrough(answers: StubAnswer[], limits = {}) {
  const clock = createTestClock()
  await using stub = await startHttpStub((_, at) => answers[Math.min(at, answers.length - 1)]!)
  const retried: string[] = []
  const outcome = await createTestTransport({ clock, limits, retried: (why) => void retried.push(why) })
    .send(requestTo(stub.url))
    .then(({ text }) => ({ text, error: null }))
    .catch((error: unknown) => ({ text: null, error }))
  return { ...outcome, requests: stub.requests.length, slept: clock.slept, retried }
}

const destroyed: StubAnswer = (response) => void response.destroy()
const brokenOff: StubAnswer = (response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('half', () => response.destroy())
}
const silent: StubAnswer = () => undefined
const stalled: StubAnswer = (response) => {
  response.writeHead(200)
  response.write('half')
}

describe('a GET is sent again', () => {
  test.each<[string, StubAnswer]>([
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['503', { status: 503 }],
    ['a 403 that is a rate limit', { status: 403, text: 'rate limit' }],
    ['a destroyed connection', destroyed],
    ['a body that breaks off', brokenOff],
  ])('after %s', async (_fault, answer) => {
    expect(await sendThrough([answer, answer, FINE])).toMatchObject({ text: 'fine', requests: 3, slept: [250, 500] })
  })

  test('and the reason is reported each time', async () => {
    expect(await sendThrough([{ status: 500 }, destroyed, FINE])).toMatchObject({ retried: ['server', 'unreachable'] })
    expect(await sendThrough([FINE])).toMatchObject({ retried: [] })
    expect(await sendThrough([destroyed, destroyed, destroyed])).toMatchObject({
      retried: ['unreachable', 'unreachable'],
    })
  })

  test.each<[string, StubAnswer, string]>([
    ['429', { status: 429 }, 'rate-limited'],
    ['a destroyed connection', destroyed, 'unreachable'],
  ])('up to three times in all: %s', async (_fault, answer, kind) => {
    const { error, requests } = await sendThrough([answer, answer, answer, FINE])
    expect(error).toMatchObject({ kind })
    expect(requests).toBe(TRANSPORT_LIMITS.triesMax)
  })

  test.each([400, 401, 403, 404, 409, 302])('but not after %i', async (status) => {
    const { error, requests } = await sendThrough([{ status }, FINE])
    expect(error).toMatchObject({ status, retryable: false })
    expect(requests).toBe(1)
  })
})

describe.each(['POST', 'PUT'] as const)('a %s is sent exactly once', (method) => {
  test.each<[string, StubAnswer, boolean]>([
    ['500', { status: 500 }, false],
    ['503 with a Retry-After', { status: 503, headers: { 'retry-after': '1' } }, false],
    ['429', { status: 429 }, true],
    ['a destroyed connection', destroyed, false],
    ['a body that breaks off', brokenOff, false],
  ])('even after %s', async (_fault, answer, retryable) => {
    await using stub = await startHttpStub(() => answer)
    const sending = createTestTransport().send(requestTo(stub.url, { method, body: '{}' }))
    expect((await ciErrorOf(sending)).retryable).toBe(retryable)
    expect(stub.requests.map((request) => [request.method, request.body])).toEqual([[method, '{}']])
  })

  test('even if the time limit of the caller passes, which tells nothing about what was done', async () => {
    await using stub = await startHttpStub(() => silent)
    const sending = createTestTransport().send(requestTo(stub.url, { method }), AbortSignal.timeout(30))
    expect(await ciErrorOf(sending)).toMatchObject({ kind: 'timeout', retryable: false })
    expect(stub.requests).toHaveLength(1)
  })

  test('on a connection of its own, so never on one that CI is about to close', async () => {
    const used = new WeakSet<object>()
    await using stub = await startHttpStub(() => (response) => {
      if (used.has(response.socket!)) return void response.destroy()
      used.add(response.socket!)
      response.end('fine')
    })
    const transport = createTestTransport()
    await transport.send(requestTo(stub.url))
    expect((await transport.send(requestTo(stub.url, { method }))).text).toBe('fine')
    expect((await transport.send(requestTo(stub.url, { method }))).text).toBe('fine')
    expect(stub.requests.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'close', 'close'])
  })
})

describe('a request that needs only the status', () => {
  const send = async (answer: StubAnswer, limits = {}) => {
    await using stub = await startHttpStub(() => answer)
    const request = requestTo(stub.url, { method: 'POST', statusSuffices: true })
    return await createTestTransport({ limits }).send(request)
  }

  test.each<[string, StubAnswer]>([
    ['breaks off', brokenOff],
    ['stalls', stalled],
  ])('succeeds with what arrived of a body that %s', async (_fault, answer) => {
    expect(await send(answer, { bodyTimeoutMs: 50 })).toMatchObject({ status: 200, text: 'half' })
  })

  test('succeeds with the beginning of an endless body', async () => {
    const { text } = await send((response) => {
      const flood = () => {
        while (!response.destroyed && response.write('x'.repeat(8_192)));
        response.once('drain', flood)
      }
      flood()
    })
    expect(text).toBe('x'.repeat(64 * 1024))
  })

  test('still fails if the status says so', async () => {
    expect((await ciErrorOf(send({ status: 500, text: '{}' }))).kind).toBe('server')
  })
})

describe('Retry-After', () => {
  const now = createTestClock().now()

  test.each([
    ['seconds', '7', 7_000],
    ['a date', new Date(now + 9_000).toUTCString(), 9_000],
  ])('in %s is respected', async (_form, value, waitMs) => {
    const { slept, text } = await sendThrough([{ status: 429, headers: { 'retry-after': value } }, FINE])
    expect(slept).toEqual([waitMs])
    expect(text).toBe('fine')
  })

  test.each(['0', '-5', 'soon', '2099-01-01', 'May 2099', new Date(now - 9_000).toUTCString()])(
    'never shortens the backoff: %s',
    async (value) => {
      const { slept } = await sendThrough([{ status: 503, headers: { 'retry-after': value } }, FINE])
      expect(slept).toEqual([250])
    },
  )

  test('longer than the deadline is not waited for, and is passed on to the caller', async () => {
    const waitS = TRANSPORT_LIMITS.deadlineMs / 1_000
    const { error, requests, slept } = await sendThrough([{ status: 429, headers: { 'retry-after': String(waitS) } }])
    expect(error).toMatchObject({ kind: 'rate-limited', retryAfterMs: waitS * 1_000 })
    expect([requests, slept]).toEqual([1, []])
  })

  test('that ends just before the deadline is waited for', async () => {
    const waitS = TRANSPORT_LIMITS.deadlineMs / 1_000 - 1
    const { text } = await sendThrough([{ status: 429, headers: { 'retry-after': String(waitS) } }, FINE])
    expect(text).toBe('fine')
  })

  test('is limited if it is excessively long', async () => {
    const { error } = await sendThrough([{ status: 429, headers: { 'retry-after': '99999999999' } }])
    expect(error).toMatchObject({ retryAfterMs: RETRY_AFTER_MS_MAX })
  })
})

describe('the time is limited', () => {
  const once = { triesMax: 1 }

  test('for the headers of an answer', async () => {
    const { error } = await sendThrough([silent], { ...once, headersTimeoutMs: 50 })
    expect(error).toMatchObject({ kind: 'timeout', code: 'CI_TIMEOUT', retryable: true })
    expect(error).toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } })
  })

  test('for a stalled body', async () => {
    const { error } = await sendThrough([stalled], { ...once, bodyTimeoutMs: 50 })
    expect(error).toMatchObject({ kind: 'timeout', cause: { code: 'UND_ERR_BODY_TIMEOUT' } })
  })

  test('for a whole call, even if bytes keep trickling in', async () => {
    const dripping: StubAnswer = (response) => {
      const drip = setInterval(() => response.write('.'), 5)
      response.on('close', () => clearInterval(drip))
    }
    const { error, requests } = await sendThrough([dripping], { triesMax: 1, deadlineMs: 80 })
    expect(error).toMatchObject({ kind: 'timeout', code: 'CI_TIMEOUT' })
    expect(requests).toBe(1)
  })

  test('and a timeout is retried like any lost connection', async () => {
    expect(await sendThrough([silent, FINE], { headersTimeoutMs: 50 })).toMatchObject({ text: 'fine', requests: 2 })
  })

  test('but an error keeps its status if its body stalls', async () => {
    const answer: StubAnswer = (response) => void response.writeHead(404).write('half')
    const { error } = await sendThrough([answer], { bodyTimeoutMs: 50 })
    expect(error).toMatchObject({ kind: 'not-found', status: 404 })
  })
})

describe('the size is limited', () => {
  const limits = { responseBytesMax: 1_000 }

  test('but may be exactly at the limit', async () => {
    const { text } = await sendThrough([{ text: 'é'.repeat(500) }], limits)
    expect(text).toBe('é'.repeat(500))
  })

  test.each<[string, StubAnswer]>([
    ['an announced length', { text: `${'é'.repeat(500)}x` }],
    ['no announced length', (response) => void response.write('x'.repeat(2_000))],
  ])('and one byte more is too large, with %s', async (_form, answer) => {
    const { error, requests } = await sendThrough([answer], limits)
    expect(error).toMatchObject({ kind: 'too-large', code: 'CI_TOO_LARGE', retryable: false })
    expect(requests).toBe(1)
  })

  test('for one request to its own limit, whether smaller or larger', async () => {
    await using stub = await startHttpStub(() => ({ text: 'x'.repeat(1_000) }))
    const send = (responseBytesMax: number, most: number) =>
      createTestTransport({ limits: { responseBytesMax: most } }).send(requestTo(stub.url, { responseBytesMax }))
    expect((await send(1_000, 2_000)).bytes).toHaveLength(1_000)
    expect((await ciErrorOf(send(999, 2_000))).kind).toBe('too-large')
    expect((await send(1_000, 999)).bytes).toHaveLength(1_000)
  })

  test('for the headers as well', async () => {
    const { error } = await sendThrough([{ headers: { 'x-long': 'x'.repeat(200_000) } }], { triesMax: 1 })
    expect(error).toMatchObject({ kind: 'too-large' })
  })
})

describe('a caller that aborts', () => {
  test('gets its own reason, and the request is not sent again', async () => {
    const controller = new AbortController()
    const reason = new Error('no longer wanted')
    await using stub = await startHttpStub(() => {
      controller.abort(reason)
      return silent
    })
    const sending = createTestTransport().send(requestTo(stub.url), controller.signal)
    await expect(sending).rejects.toBe(reason)
    expect(stub.requests).toHaveLength(1)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  test('also ends the wait for a retry', async () => {
    const controller = new AbortController()
    const reason = new Error('no longer wanted')
    const clock = { ...createTestClock(), sleep: () => Promise.resolve(controller.abort(reason)) }
    await using stub = await startHttpStub(() => ({ status: 500 }))
    await expect(createTestTransport({ clock }).send(requestTo(stub.url), controller.signal)).rejects.toBe(reason)
    expect(stub.requests).toHaveLength(1)
  })

  test('with a time limit gets a timeout', async () => {
    await using stub = await startHttpStub(() => silent)
    const sending = createTestTransport().send(requestTo(stub.url), AbortSignal.timeout(30))
    expect(await ciErrorOf(sending)).toMatchObject({ kind: 'timeout', retryable: true })
  })
})

test('any 2xx is a success, even with an empty body', async () => {
  for (const status of [200, 201, 202, 204, 299]) {
    await using stub = await startHttpStub(() => ({ status }))
    expect(await createTestTransport().send(requestTo(stub.url))).toMatchObject({ status, link: null, text: '' })
  }
})

test('a redirect is not followed', async () => {
  await using other = await startHttpStub(() => FINE)
  const { error } = await sendThrough([{ status: 307, headers: { location: other.url } }])
  expect(error).toMatchObject({ kind: 'shape', status: 307 })
  expect(other.requests).toHaveLength(0)
})

test.each(['GET', 'POST'] as const)('a closed transport sends no more %s requests', async (method) => {
  await using stub = await startHttpStub(() => FINE)
  const transport = createTestTransport()
  await transport.send(requestTo(stub.url, { method }))
  await transport.close()
  await ciErrorOf(transport.send(requestTo(stub.url, { method })))
  expect(stub.requests).toHaveLength(1)
})
