import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { clientCredentialsAuth, staticAuth } from '../../../src/sources/ci-service/auth.ts'
import { REASON_CHARS_MAX, type CiError } from '../../../src/sources/http/errors.ts'
import { JSON_DEPTH_MAX } from '../../../src/lib/json.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import {
  ciErrorOf,
  createTestClientLegacy,
  createTestClientV2,
  createTestClock,
  createTestTransport,
  projectIdOf,
} from './support.ts'

const errorAfter = async (answer: StubAnswer): Promise<CiError> => {
  await using stub = await startHttpStub(() => answer)
  return await ciErrorOf(createTestClientV2(stub.url).listProjects())
}

describe('each status has its kind and code:', () => {
  test.each([
    [400, 'bad-request', 'CI_BAD_REQUEST', false],
    [401, 'unauthorized', 'CI_UNAUTHORIZED', false],
    [403, 'forbidden', 'CI_FORBIDDEN', false],
    [404, 'not-found', 'CI_NOT_FOUND', false],
    [410, 'not-found', 'CI_NOT_FOUND', false],
    [422, 'bad-request', 'CI_BAD_REQUEST', false],
    [429, 'rate-limited', 'CI_RATE_LIMITED', true],
    [500, 'server', 'CI_SERVER', true],
    [503, 'server', 'CI_SERVER', true],
    [302, 'shape', 'CI_SHAPE', false],
  ])('%i is %s', async (status, kind, code, retryable) => {
    const error = await errorAfter({ status, headers: { location: 'http://127.0.0.1:1/' } })
    expect(error).toMatchObject({ status, kind, code, retryable })
    expect(error.message).toContain(`list projects, HTTP ${status}`)
  })
})

describe('a 403', () => {
  test.each<[string, StubAnswer]>([
    ['reason phrase', { status: 403, reason: 'Rate Limit Exceeded' }],
    ['body', { status: 403, json: { errors: ['API rate limit exceeded'] } }],
    ['text', { status: 403, text: 'rate_limit' }],
  ])('that names a rate limit in its %s means that the limit is reached', async (_where, answer) => {
    expect(await errorAfter(answer)).toMatchObject({ kind: 'rate-limited', status: 403, retryable: true })
  })

  test('that does not name one means a missing permission', async () => {
    const answer = { status: 403, json: { error: 'scope project.read is missing' } }
    expect(await errorAfter(answer)).toMatchObject({ kind: 'forbidden', reason: 'scope project.read is missing' })
  })
})

describe('the reason of an error', () => {
  test.each<[string, { json?: unknown; text?: string }, string | undefined]>([
    ['a list of texts', { json: { errors: ['one', 'two'] } }, 'one; two'],
    ['a list of objects', { json: { errors: [{ title: 'Bad', detail: 'name is odd' }] } }, 'name is odd; Bad'],
    ['an error text', { json: { error: 'odd name' } }, 'odd name'],
    ['an error object', { json: { error: { message: 'odd name' } } }, 'odd name'],
    ['plain text', { text: 'odd\n\tname\u0007 ' }, 'odd name'],
    [
      'an HTML page',
      { text: '<html><style>p{}</style><body><h1>Bad</h1><p class="x">odd name</p></body></html>' },
      undefined,
    ],
    ['an escaped text', { text: 'odd &quot;name&quot;' }, undefined],
    ['a text with signs of its own', { text: '1 < 2 && 3 > 2; a & b' }, '1 < 2 && 3 > 2; a & b'],
    ['an empty body', {}, undefined],
    ['unknown JSON', { json: { trace: ['a', 'b'], at: 3 } }, undefined],
    ['broken JSON', { text: '{"error": "odd' }, undefined],
  ])('is found in %s', async (_form, answer, reason) => {
    const error = await errorAfter({ status: 400, ...answer })
    expect(error.reason).toBe(reason)
    expect(error.message.endsWith(reason ?? '(list projects, HTTP 400)')).toBe(true)
  })

  test('is visibly cut, counted in code points', async () => {
    const { reason } = await errorAfter({ status: 400, text: '🐢'.repeat(REASON_CHARS_MAX + 1) })
    expect(reason).toBe(`${'🐢'.repeat(REASON_CHARS_MAX - 1)}…`)
  })

  test('is complete at exactly the limit', async () => {
    const text = '🐢'.repeat(REASON_CHARS_MAX)
    expect((await errorAfter({ status: 400, text })).reason).toBe(text)
  })

  test('is found at the beginning of an endless body', async () => {
    const error = await errorAfter((response) => {
      response.writeHead(403)
      response.write('rate limit reached. ')
      const flood = () => {
        while (!response.destroyed && response.write('x '.repeat(8_192)));
        response.once('drain', flood)
      }
      flood()
    })
    expect(error.kind).toBe('rate-limited')
    expect(error.reason).toMatch(/^rate limit reached\. x x/)
  })
})

describe('a successful answer has the wrong shape if it is', () => {
  test.each<[string, string]>([
    ['empty', ''],
    ['an HTML page', '<html>login</html>'],
    ['broken JSON', '[{"uuid":'],
    ['an object without projects', '{"items":[]}'],
    ['an object whose projects are not a list', '{"projects":{}}'],
    ['a number', '7'],
    ['nested too deeply', `${'['.repeat(JSON_DEPTH_MAX + 1)}${']'.repeat(JSON_DEPTH_MAX + 1)}`],
  ])('%s', async (_form, text) => {
    expect(await errorAfter({ text })).toMatchObject({ kind: 'shape', code: 'CI_SHAPE', retryable: false, status: 200 })
  })

  test('nested only up to the limit is not such an answer, and is read', async () => {
    await using stub = await startHttpStub(() => ({
      text: `${'['.repeat(JSON_DEPTH_MAX)}"\\"[[["${']'.repeat(JSON_DEPTH_MAX)}`,
    }))
    expect((await createTestClientV2(stub.url).listProjects()).skipped).toBe(1)
  })
})

/** The number of characters of a body that are searched for a reason. */
const READ_CHARS_MAX = 4_000

describe('no error shows any part', () => {
  const CANARY = 'canary/Ab+1 <é&"7'
  const TOKEN = 'canary-token-0123456789Zz'
  const forms = [CANARY, encodeURIComponent(CANARY), new URLSearchParams([['k', CANARY]]).toString().slice(2), TOKEN]
  const bodies = [
    { json: { errors: [`bad key ${CANARY}`, `api_key=${encodeURIComponent(CANARY)}`] } },
    { json: { error: `no such value ${encodeURIComponent(CANARY)} here` } },
    { json: { error: `token ${TOKEN} expired` } },
    { text: `GET /api/v1/projects.json?api_key=${CANARY} failed; Authorization: Bearer ${TOKEN}` },
    {
      text: `<pre>${CANARY.replaceAll('&', '&amp;').replaceAll('<', '&lt;')} can<b>ary-token-0123456789Zz</b> ${CANARY.replaceAll('/', '&#x2F;').replaceAll('<', '&lt;')}</pre>`,
    },
  ]

  const everythingOf = (error: CiError) =>
    [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), String(error), error.stack].join('\n')

  const expectClean = (error: CiError) => {
    const shown = everythingOf(error)
    for (const form of [...forms, 'canary']) expect(shown).not.toContain(form)
  }

  test.each([400, 401, 403, 404, 429, 500, 302, 200])('of the legacy key after %i', async (status) => {
    for (const body of bodies) {
      await using stub = await startHttpStub(() => ({ status, ...body }))
      const client = createTestClientLegacy(stub.url, { apiKey: CANARY })
      expectClean(await ciErrorOf(client.getProject(projectIdOf('11'))))
      expect(stub.requests[0]!.query.get('api_key')).toBe(CANARY)
    }
  })

  test.each([400, 401, 403, 500])('of the Authorization after %i', async (status) => {
    for (const body of [...bodies, { text: `you sent ${TOKEN}` }]) {
      await using stub = await startHttpStub(() => ({ status, ...body }))
      const auth = { ...staticAuth(`Bearer ${TOKEN}`), secrets: () => [CANARY, `Bearer ${TOKEN}`] }
      expectClean(await ciErrorOf(createTestClientV2(stub.url, { auth }).listProjects()))
    }
  })

  test.each([400, 401, 500, 200])('of the client secret when the token endpoint answers %i', async (status) => {
    const sent: string[] = []
    await using stub = await startHttpStub(({ headers, body }) => {
      sent.push(body)
      return { status, text: `${headers.authorization} ${body} secret is ${CANARY}` }
    })
    const [clock, transport] = [createTestClock(), createTestTransport()]
    const auth = clientCredentialsAuth({ tokenUrl: stub.url, clientId: 'id', clientSecret: CANARY, transport, clock })
    const error = await ciErrorOf(createTestClientV2(stub.url, { auth }).listProjects())
    expectClean(error)
    expect(everythingOf(error)).not.toContain(Buffer.from(`id:${encodeURIComponent(CANARY)}`).toString('base64'))
    expect(error.code).toMatch(/^CI_TOKEN_/)
  })

  test('of the key if there is no answer, or one that is not HTTP', async () => {
    await using stub = await startHttpStub(() => (response) => void response.socket?.end(`${CANARY} not http\r\n\r\n`))
    for (const baseUrl of ['http://127.0.0.1:1', stub.url]) {
      const error = await ciErrorOf(createTestClientLegacy(baseUrl, { apiKey: CANARY }).listProjects())
      expect(error).toMatchObject({ kind: 'unreachable', code: 'CI_UNREACHABLE', retryable: true })
      expectClean(error)
      expect(error.cause).toMatchObject({ code: expect.stringMatching(/./) })
    }
  })

  test('of a secret in its cause', async () => {
    const error = await ciErrorOf(createTestClientLegacy('http://127.0.0.1:1', { apiKey: '127.0.0.1' }).listProjects())
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED [removed]:1' })
    expect(everythingOf(error)).not.toContain('127.0.0.1')
  })

  test('of a credential that cannot be sent in a header', async () => {
    await using stub = await startHttpStub(() => ({ json: [] }))
    const error = await ciErrorOf(
      createTestClientV2(stub.url, { auth: staticAuth(`Bearer ${TOKEN}\n`) }).listProjects(),
    )
    expect(error.kind).toBe('bad-request')
    expectClean(error)
  })

  test('of an invalid base address', () => {
    expect(() => createTestClientV2('ftp://ada:canary@host')).toThrow(/http\(s\) address$/)
  })

  // The secret has an invisible character, so it is known only when that is gone, and a cut half is unrecognisable.
  test.each([6, 12, 18])('of a secret of which only the first %i characters are read', async (chars) => {
    const secret = `c\u00ad${TOKEN.slice(1)}`
    const kept = chars + 1
    const text = 'x '.repeat(READ_CHARS_MAX).slice(0, READ_CHARS_MAX - kept - 1) + ` ${secret} expired`
    await using stub = await startHttpStub(() => ({ status: 400, text }))
    const auth = staticAuth(`Bearer ${TOKEN}`)
    expectClean(await ciErrorOf(createTestClientV2(stub.url, { auth }).listProjects()))
  })

  test('of a secret that begins like another one, not even its rest', async () => {
    await using stub = await startHttpStub(() => ({ status: 400, text: 'saw canary-one here' }))
    const auth = { ...staticAuth('canary'), secrets: () => ['canary', 'canary-one'] }
    const error = await ciErrorOf(createTestClientV2(stub.url, { auth }).listProjects())
    expect(error.reason).toBe('saw [removed] here')
  })

  test.each([
    ['your token: s3cr3t', 'your token=[removed]'],
    ['Authorization: Basic c2VjcmV0OnNlY3JldA==', 'Authorization=[removed]'],
    ['sent bearer abc.def', 'sent Bearer [removed]'],
    ['at https://ada:pw@host/a?b=c now', 'at https://[removed]@host/a?[removed] now'],
    ['saw 0123456789abcdef0123456789abcdef', 'saw [removed]'],
    ['saw xoxb-1-secret', 'saw [removed]'],
    ['Basic projects only', 'Basic projects only'],
    ['no project f0000000-0000-0000-0000-000000000001', 'no project f0000000-0000-0000-0000-000000000001'],
  ])('of a text that looks like a secret, and each shows other text: %s', async (text, reason) => {
    expect((await errorAfter({ status: 400, text })).reason).toBe(reason)
  })
})
