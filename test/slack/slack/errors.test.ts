import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Failure } from '../../../src/slack/notifier.ts'
import { classify } from '../../../src/slack/api/errors.ts'
import { createSlackNotifier } from '../../../src/alerts/slack-notifier.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import { BUILDS_CHANNEL, card, messageTs } from './cast.ts'

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
  ['a 429 waits as long as it says', { status: 429, headers: { 'retry-after': '7' } }, limited(7_000)],
  ['a 429 that names no time waits a default', { status: 429 }, limited(30_000)],
  [
    'a 429 that names a date waits a default',
    { status: 429, headers: { 'retry-after': 'Mon, 04 May 2026' } },
    limited(30_000),
  ],
  ['a 429 that names a day waits an hour', { status: 429, headers: { 'retry-after': '86400' } }, limited(3_600_000)],
  ['a refusal for the rate waits too', refusal('ratelimited'), limited(30_000)],
  ['a refusal for the rate in the older word', refusal('rate_limited'), { ...limited(30_000), code: 'rate_limited' }],
  ['a 500 is unclear', { status: 500, text: 'oops' }, { kind: 'unclear', code: 'http_500' }],
  ['a 503 is unclear', { status: 503 }, { kind: 'unclear', code: 'http_503' }],
  [
    'a 503 that says refused is unclear',
    { status: 503, json: { ok: false, error: 'invalid_blocks' } },
    { kind: 'unclear', code: 'http_503' },
  ],
  ['a 204 is unclear', { status: 204 }, { kind: 'unclear', code: 'http_204' }],
  [
    'a 403 from something in between was not delivered',
    { status: 403, text: '<html>' },
    { kind: 'unsent', code: 'http_403' },
  ],
  ['a 413 is refused', { status: 413 }, { kind: 'refused', code: 'http_413' }],
  [
    'a 400 with a word is what the word says',
    { status: 400, json: { ok: false, error: 'is_archived' } },
    { kind: 'channel-closed', code: 'is_archived' },
  ],
  ['a body that is no JSON is unclear', { text: '<html>login</html>' }, broken()],
  ['a body that is one word is unclear', { text: 'ok' }, broken()],
  ['an empty body is unclear', { text: '' }, broken()],
  ['null is unclear', { text: 'null' }, broken()],
  ['an object without ok is unclear', { json: {} }, broken()],
  ['a refusal without a word is unclear', { json: { ok: false } }, broken()],
  ['a refusal in prose is unclear, and not repeated', refusal('Ada did <it>'), broken()],
  ['a success that does not say where is unclear', { json: { ok: true } }, broken()],
  ['a connection that is dropped is unclear', reset, { kind: 'unclear', code: 'UND_ERR_SOCKET' }],
  ['a body that is torn off is unclear', tornBody, { kind: 'unclear', code: 'UND_ERR_SOCKET' }],
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
  test.each(ANSWERS)('%s', async (_, answer, expected) => {
    await using stub = await startHttpStub(() => answer)
    expect(await postTo(stub.url)).toEqual(expected)
    expect(stub.requests).toHaveLength(1)
  })

  test.each(BY_WORD)('%s means %s', async (code, kind) => {
    await using stub = await startHttpStub(() => refusal(code))
    expect(await postTo(stub.url)).toEqual({ kind, code })
    expect(stub.requests).toHaveLength(1)
  })

  test('no answer in time is unclear, and asked for once', async () => {
    await using stub = await startHttpStub(() => () => {})
    expect(await postTo(stub.url, { timeoutMs: 100 })).toEqual({ kind: 'unclear', code: 'timeout' })
    expect(stub.requests).toHaveLength(1)
  })

  test('no end of the answer in time is unclear', async () => {
    await using stub = await startHttpStub(() => (response) => void response.writeHead(200).write('{"ok":'))
    expect(await postTo(stub.url, { timeoutMs: 100 })).toEqual({ kind: 'unclear', code: 'timeout' })
  })

  test('a port where nobody listens was certainly not reached', async () => {
    expect(await postTo(`http://127.0.0.1:${await freePort()}/`)).toEqual({ kind: 'unsent', code: 'ECONNREFUSED' })
  })

  test('a name that does not resolve was certainly not reached', async () => {
    const outcome = await postTo('http://slack.invalid/')
    expect(outcome.kind).toBe('unsent')
  })

  test('a redirect is not followed: the token goes nowhere else', async () => {
    await using other = await startHttpStub(() => ({ json: { ok: true, ts: TS } }))
    await using stub = await startHttpStub(() => ({ status: 307, headers: { location: other.url } }))
    expect((await postTo(stub.url)).kind).toBe('unclear')
    expect(other.requests).toEqual([])
  })
})

test.each([
  ['none was reached', ['connect', 'connect'], 'unsent'],
  ['one was reached', ['connect', 'read'], 'unclear'],
])('of several addresses: %s', (_, calls, kind) => {
  const failed = (syscall: string) => Object.assign(new Error('failed'), { syscall, code: 'ECONNRESET' })
  const cause = new AggregateError(calls.map(failed))
  expect(classify(new TypeError('fetch failed', { cause })).kind).toBe(kind)
})

test('what nobody knows is unclear, and says nothing', () => {
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
