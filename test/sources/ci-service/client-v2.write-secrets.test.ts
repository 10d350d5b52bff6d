import type { ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { ClientV2 } from '../../../src/sources/ci-service/client-v2.ts'
import { hidePieces, PIECE_CHARS_MIN, REASON_CHARS_MAX } from '../../../src/sources/http/errors.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createTestClientV2, uuidOf } from './support.ts'

const SECRETS = {
  key: 'canary-slack key',
  url: 'https://hooks.example.com/canary/T1?of="x"&b',
  value: 'canary=\nof <two> lines & "more"',
  short: 'pw1',
  aesKey: 'canaryaeskey',
  loft: 'canary loft',
  awsId: 'CANARYAWSID',
  awsSecret: 'canary/aws+secret',
  refresh: 'canary refresh',
  apiKey: 'canary api',
  check: 'https://canary.example.com/check',
}

const rules = [
  { notifier: 'slack', options: { key: SECRETS.key }, build_statuses: ['failed'] },
  { notifier: 'webhook', options: { url: SECRETS.url }, build_statuses: ['failed'] },
  { notifier: 'pigeon', options: { loft: SECRETS.loft }, build_statuses: ['failed'] },
]
const variables = [
  { name: 'TOKEN', value: SECRETS.value },
  { name: 'SHORT', value: SECRETS.short },
]
const keyed = { name: 'AES', value: SECRETS.aesKey }
const config = {
  type: 's3_deployment' as const,
  aws_access_key_id: SECRETS.awsId,
  aws_secret_access_key: SECRETS.awsSecret,
  refresh_token: SECRETS.refresh,
  api_key: SECRETS.apiKey,
  check_url: SECRETS.check,
}
const branch = { branch_name: 'main', match_mode: 'exact' }

const create = (client: ClientV2) =>
  client.createProject({
    repository_url: 'https://git.example.com/acme/web.git',
    type: 'basic',
    team_ids: ['7'],
    notification_rules: [...rules, { notifier: 's3', options: config, build_statuses: ['failed'] }],
    environment_variables: [...variables, keyed],
  })

const update = (client: ClientV2) =>
  client.updateProject(toUuid(uuidOf(1)), {
    type: 'basic',
    notification_rules: rules,
    environment_variables: variables,
    aes_key: SECRETS.aesKey,
    deployment_pipelines: [{ id: 1, branch, config: { deployments: [config] }, position: 1 }],
  })

const reset = (client: ClientV2) => client.resetAesKey(toUuid(uuidOf(1)))

const WRITES = [
  ['creation', create],
  ['update', update],
] as const

const html = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const all = Object.values(SECRETS)

/** The answers of a hostile or careless CI, made from what it was sent. */
const ECHOES: [string, (body: string) => StubAnswer][] = [
  ['the request as text', (body) => ({ text: body })],
  ['the request within an error', (body) => ({ json: { error: `cannot take ${body}` } })],
  ['the request in a page', (body) => ({ text: `<pre>${html(body)}</pre>` })],
  ['the values one by one', () => ({ json: { errors: all.map((text) => `not '${text}'`) } })],
  ['the values in a page', () => ({ text: `<ul>${all.map((text) => `<li>${html(text)}</li>`).join('')}</ul>` })],
  ['the values in an address', () => ({ text: all.map((text) => `x=${encodeURIComponent(text)}`).join(' & ') })],
  [
    'a value in two halves',
    () => ({ text: `canary-<b>slack key</b> and canary <i>refresh</i> and canary<em>aeskey</em>` }),
  ],
  ['the lines of a value', () => ({ json: { errors: ['of <two> lines & "more"', 'canary='] } })],
  ['a value that breaks off', () => ({ json: { error: `bad key ${SECRETS.key.slice(0, -1)}` } })],
  ['a value after a long text', () => ({ text: `${'so '.repeat(REASON_CHARS_MAX / 3 - 3)}${SECRETS.key}` })],
  ['the request cut off', (body) => (response) => response.writeHead(400).write(body, () => response.destroy())],
]

const PIECES = [/canary/i, /\bpw1\b/, /of <two>|two> lines/, /of two/, /slack key/, /hooks\.example/, /ws\+secret/]

describe.each(WRITES)('no error of a %s shows a secret from the request', (_write, write) => {
  test.each(ECHOES)('if CI answers with %s', async (_echo, echo) => {
    for (const status of [400, 403, 422, 500, 302]) {
      await using stub = await startHttpStub(({ body }) => {
        const answer = echo(body)
        return typeof answer === 'function' ? answer : { status, ...answer }
      })
      const error = await ciErrorOf(write(createTestClientV2(stub.url)))
      const shown = [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), error.stack].join('\n')
      for (const piece of PIECES) expect(shown).not.toMatch(piece)
    }
  })

  test('if the answer is not HTTP', async () => {
    const answer: StubAnswer = (response) => void response.socket?.end(`${all.join(' ')}\r\n\r\n`)
    await using stub = await startHttpStub(() => answer)
    const error = await ciErrorOf(write(createTestClientV2(stub.url)))
    for (const piece of PIECES) expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(piece)
  })
})

test('a creation whose answer is cut in the middle of a secret shows no part of it', async () => {
  await using stub = await startHttpStub(({ body }) => ({ status: 201, text: body.slice(0, -1) }))
  const error = await ciErrorOf(create(createTestClientV2(stub.url)))
  expect(error.kind).toBe('shape')
  for (const piece of PIECES) expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(piece)
})

test('the text of CI about a write stays readable: fields, rules and the names of variables', async () => {
  const said = 'notification_rules.0.options: slack needs key; environment_variables.TOKEN is reserved'
  for (const write of [create, update, reset]) {
    await using stub = await startHttpStub(() => ({ status: 400, json: { errors: said.split('; ') } }))
    expect((await ciErrorOf(write(createTestClientV2(stub.url)))).reason).toBe(said)
  }
})

test('a short value is removed where it stands alone, but not from within another word', async () => {
  await using stub = await startHttpStub(() => ({ status: 400, text: 'test_pipelines are latest, not "test"' }))
  const project = { type: 'basic', environment_variables: [{ name: 'NODE_ENV', value: 'test' }] }
  const error = await ciErrorOf(createTestClientV2(stub.url).updateProject(toUuid(uuidOf(1)), project))
  expect(error.reason).toBe('test_pipelines are latest, not "[removed]"')
})

test('half a character in a value does not change the kind of an error', async () => {
  const halved = [{ name: 'HALF', value: 'half \u{d83d}' }]
  for (const answer of [
    { status: 400, text: 'not half a thing' },
    (response: ServerResponse) => void response.destroy(),
  ]) {
    await using stub = await startHttpStub(() => answer)
    const project = { type: 'basic', environment_variables: halved }
    const error = await ciErrorOf(createTestClientV2(stub.url).updateProject(toUuid(uuidOf(1)), project))
    expect(error.kind).toBe(typeof answer === 'function' ? 'unreachable' : 'bad-request')
  }
})

test('a project with the most and longest values that can be sent does not remove the reason of an error', async () => {
  const environment_variables = Array.from({ length: 200 }, (_, at) => ({
    name: `V${at}`,
    value: `${at}-`.padEnd(10_000, 'xyz-'),
  }))
  await using stub = await startHttpStub(() => ({ status: 400, text: 'the value 7-xyz-xyz-xyz-x is too long' }))
  const project = { type: 'basic', environment_variables }
  const error = await ciErrorOf(createTestClientV2(stub.url).updateProject(toUuid(uuidOf(1)), project))
  expect(error.reason).toBe('the value [removed] is too long')
})

describe('a piece of a secret', () => {
  const secret = 'abcdefghijkl'

  test.each([
    [secret.slice(0, PIECE_CHARS_MIN), '[x]'],
    [secret.slice(-PIECE_CHARS_MIN), '[x]'],
    [secret.slice(0, PIECE_CHARS_MIN - 1), 'abcdefg'],
    [`say ${secret.slice(1, 11)}!`, 'say [x]!'],
    [`${secret}${secret} and ${secret}`, '[x] and [x]'],
    ['', ''],
  ])('%j is shown as %j', (text, shown) => {
    expect(hidePieces(text, [secret, ''], '[x]')).toBe(shown)
  })
})
