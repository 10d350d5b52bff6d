import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Failure } from '../../../src/slack/notifier.ts'
import { classify } from '../../../src/slack/api/errors.ts'
import { createSlackNotifier } from '../../../src/alerts/send/slack-notifier.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import { BUILDS_CHANNEL, card, messageTs } from '../messages/cast.ts'

const CHANNEL = BUILDS_CHANNEL
const TS = messageTs('1777903320.000100')
const TOKEN = 'xoxb-canary-1'

const refusal = (error: string): StubAnswer => ({ json: { ok: false, error } })

const WORDS: Record<Exclude<Failure['kind'], 'rate-limited'>, string[]> = {
  'channel-closed': [
    'channel_not_found',
    'not_in_channel',
    'is_archived',
    'restricted_action',
    'restricted_action_read_only_channel',
  ],
  'workspace-closed': [
    'token_revoked',
    'invalid_auth',
    'not_authed',
    'account_inactive',
    'missing_scope',
    'org_login_required',
    'team_access_not_granted',
  ],
  'message-gone': [
    'thread_not_found',
    'message_not_found',
    'cant_update_message',
    'edit_window_closed',
    'restricted_action_thread_locked',
  ],
  unclear: ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'],
  unsent: ['team_added_to_org'],
  'thread-closed': ['restricted_action_non_threadable_channel'],
  refused: ['invalid_blocks', 'msg_too_long', 'no_text', 'a_word_of_tomorrow'],
}
const BY_WORD = Object.entries(WORDS).flatMap(([kind, codes]) => codes.map((code) => [code, kind] as const))

const reset: StubAnswer = (response) => response.destroy()
const tornBody: StubAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
  response.write('{"ok":true,')
  setImmediate(() => response.destroy())
}

const ANSWERS: [string, StubAnswer, Failure][] = [
  ['a 429 waits as long as its header says', { status: 429, headers: { 'retry-after': '7' } }, limited(7_000)],
  ['a 429 without a time waits the default time', { status: 429 }, limited(30_000)],
  [
    'a 429 with a date waits the default time',
    { status: 429, headers: { 'retry-after': 'Mon, 04 May 2026' } },
    limited(30_000),
  ],
  ['a 429 of a whole day waits an hour', { status: 429, headers: { 'retry-after': '86400' } }, limited(3_600_000)],
  ['a code of the rate limit waits too', refusal('ratelimited'), limited(30_000)],
  ['an older code of the rate limit waits too', refusal('rate_limited'), { ...limited(30_000), code: 'rate_limited' }],
  ['a 500 is unclear', { status: 500, text: 'oops' }, { kind: 'unclear', code: 'http_500' }],
  ['a 503 is unclear', { status: 503 }, { kind: 'unclear', code: 'http_503' }],
  [
    'a 503 with a refusal code is unclear',
    { status: 503, json: { ok: false, error: 'invalid_blocks' } },
    { kind: 'unclear', code: 'http_503' },
  ],
  ['a 204 is unclear', { status: 204 }, { kind: 'unclear', code: 'http_204' }],
  [
    'a 403 from a proxy on the way means not delivered',
    { status: 403, text: '<html>' },
    { kind: 'unsent', code: 'http_403' },
  ],
  [
    'a 400 from a proxy on the way means not delivered',
    { status: 400, text: '<html>' },
    { kind: 'unsent', code: 'http_400' },
  ],
  ['a 413 is refused', { status: 413 }, { kind: 'refused', code: 'http_413' }],
  [
    'a 400 with an error code means what the code says',
    { status: 400, json: { ok: false, error: 'is_archived' } },
    { kind: 'channel-closed', code: 'is_archived' },
  ],
  ['a body that is not JSON is unclear', { text: '<html>login</html>' }, broken()],
  ['a body of one word is unclear', { text: 'ok' }, broken()],
  ['an empty body is unclear', { text: '' }, broken()],
  ['null is unclear', { text: 'null' }, broken()],
  ['an object without ok is unclear', { json: {} }, broken()],
  ['a refusal without a code is unclear', { json: { ok: false } }, broken()],
  ['a refusal in prose is unclear, and not repeated', refusal('Ada did <it>'), broken()],
  ['a success that does not say where the message is, is unclear', { json: { ok: true } }, broken()],
  ['a connection that is dropped is unclear', reset, { kind: 'unclear', code: 'UND_ERR_SOCKET' }],
  ['a body that breaks off is unclear', tornBody, { kind: 'unclear', code: 'UND_ERR_SOCKET' }],
]

function limited(retryAfterMs: number): Failure {
  return { kind: 'rate-limited', code: 'ratelimited', retryAfterMs }
}

function broken(): Failure {
  return { kind: 'unclear', code: 'broken_answer' }
}

async function postTo(apiUrl: string, options: { timeoutMs?: number; token?: string } = {}) {
  const slack = createSlackNotifier({ token: TOKEN, apiUrl, ...options })
  return slack.post({ channel: CHANNEL, view: card(), key: 'k1', postedAttempt: null, thread: null })
}

describe('a post that fails', () => {
  test.each(ANSWERS)('has the right outcome: %s', async (_, answer, expected) => {
    await using stub = await startHttpStub(() => answer)
    expect(await postTo(stub.url)).toEqual(expected)
    expect(stub.requests).toHaveLength(1)
  })

  test.each(BY_WORD)('with the code %s is %s', async (code, kind) => {
    await using stub = await startHttpStub(() => refusal(code))
    expect(await postTo(stub.url)).toEqual({ kind, code })
    expect(stub.requests).toHaveLength(1)
  })

  test('with no answer in time is "unclear", and is sent only once', async () => {
    await using stub = await startHttpStub(() => () => {})
    expect(await postTo(stub.url, { timeoutMs: 500 })).toEqual({ kind: 'unclear', code: 'timeout' })
    expect(stub.requests).toHaveLength(1)
  })

  test('with an answer that does not end is "unclear" once it is too long', async () => {
    const endless: StubAnswer = (response) => {
      const chunk = Buffer.alloc(64 * 1024, 'x')
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', more)
      more()
    }
    await using stub = await startHttpStub(() => endless)
    expect(await postTo(stub.url)).toEqual({ kind: 'unclear', code: 'broken_answer' })
  })

  test('with an answer that does not end in time is "unclear"', async () => {
    await using stub = await startHttpStub(() => (response) => void response.writeHead(200).write('{"ok":'))
    expect(await postTo(stub.url, { timeoutMs: 100 })).toEqual({ kind: 'unclear', code: 'timeout' })
  })

  test('on a port that nobody listens on has certainly not arrived', async () => {
    expect(await postTo(`http://127.0.0.1:${await freePort()}/`)).toEqual({ kind: 'unsent', code: 'ECONNREFUSED' })
  })

  test('with a host name that does not resolve has certainly not arrived', async () => {
    const outcome = await postTo('http://slack.invalid/')
    expect(outcome.kind).toBe('unsent')
  })

  test('never follows a redirect, so the token goes nowhere else', async () => {
    await using other = await startHttpStub(() => ({ json: { ok: true, ts: TS } }))
    await using stub = await startHttpStub(() => ({ status: 307, headers: { location: other.url } }))
    expect((await postTo(stub.url)).kind).toBe('unclear')
    expect(other.requests).toEqual([])
  })
})

test.each([
  ['none could be reached', ['connect', 'connect'], 'unsent'],
  ['one was reached', ['connect', 'read'], 'unclear'],
])('an error for several addresses has the right kind if %s', (_, calls, kind) => {
  const failed = (syscall: string) => Object.assign(new Error('failed'), { syscall, code: 'ECONNRESET' })
  const cause = new AggregateError(calls.map(failed))
  expect(classify(new TypeError('fetch failed', { cause })).kind).toBe(kind)
})

test('an unknown kind of error is "unclear", and its text is not shown', () => {
  expect(classify(new Error(`broke with ${TOKEN}`))).toEqual({ kind: 'unclear', code: 'connection_failed' })
  expect(classify('thrown')).toEqual({ kind: 'unclear', code: 'connection_failed' })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
