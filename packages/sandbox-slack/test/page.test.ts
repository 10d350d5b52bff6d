import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { escapeMrkdwn } from '../../../src/lib/escape.ts'
import { parseMrkdwn, plainText } from '../page/slack/mrkdwn.ts'
import { isTooLate, readTyped, troubleOf } from '../page/store/deeds.ts'
import type { Outcome, TypedAt } from '../page/store/deeds.ts'
import { listOf, objectOf } from '../src/json.ts'
import { PEOPLE } from '../src/workspace.ts'
import { BUILDS, openStage } from './stage.ts'

/** The paths that a browser loads: the page itself, its style sheet and its script. */
async function addressesOf(url: string): Promise<[path: string, type: string][]> {
  const html = await (await fetch(url)).text()
  const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(html) ?? []
  const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(html) ?? []
  return [
    ['/', 'text/html'],
    [style, 'text/css'],
    [script, 'text/javascript'],
  ]
}

const PAGE = fileURLToPath(new URL('../page/', import.meta.url))
const FIRST_LOAD_BYTES_MAX = 100_000

describe('the page', () => {
  test('is served under a policy that allows only its own scripts, and so are its parts', async () => {
    const { sandbox } = await openStage()
    for (const [path, type] of await addressesOf(sandbox.url)) {
      const answer = await fetch(`${sandbox.url}${path}`)
      const policy = answer.headers.get('content-security-policy')
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)])
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self'")
      expect(policy).not.toContain('unsafe')
    }
  })

  test('has parts that browsers may cache for ever, but HTML that they must revalidate', async () => {
    const { sandbox } = await openStage()
    const [page, ...parts] = await addressesOf(sandbox.url)
    const cacheOf = async ([path]: [string, string]) =>
      (await fetch(`${sandbox.url}${path}`)).headers.get('cache-control')
    expect(await cacheOf(page!)).toBe('no-cache')
    for (const part of parts) {
      expect(part[0]).toMatch(/^\/page\/main-[A-Z0-9]{8}\.(?:js|css)$/)
      expect(await cacheOf(part)).toContain('immutable')
    }
  })

  test('has less than 200 KB compressed, and is sent uncompressed to clients without gzip', async () => {
    const { sandbox } = await openStage()
    let bytes = 0
    for (const [path] of await addressesOf(sandbox.url)) {
      const compressed = await rawOf(`${sandbox.url}${path}`, 'gzip, br')
      const plain = await rawOf(`${sandbox.url}${path}`, 'identity')
      expect([compressed.encoding, plain.encoding]).toEqual(['gzip', undefined])
      expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true)
      bytes += compressed.body.length
    }
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX)
  })

  test.each([
    '/page/../sandbox-slack.ts',
    '/page/%2e%2e/sign.ts',
    '/sign.ts',
    '/page/',
    '/page/main.tsx',
    '/page/index.html',
  ])('does not serve %s', async (path) => {
    const { sandbox } = await openStage()
    expect((await fetch(`${sandbox.url}${path}`)).status).toBe(404)
  })

  test('keeps its scripts and styles out of the markup', async () => {
    const { sandbox } = await openStage()
    const html = await (await fetch(sandbox.url)).text()
    expect(html).toContain('<script')
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bon\w+=|\bstyle=/)
  })

  test('never writes markup from text', () => {
    const files = readdirSync(PAGE, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
    expect(files.length).toBeGreaterThan(30)
    for (const file of files) {
      const source = readFileSync(join(PAGE, file), 'utf8')
      expect(source, file).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|dangerouslySet/i)
    }
  })
})

/** The body as it was sent, without decompression. */
function rawOf(url: string, encodings: string): Promise<{ encoding: string | undefined; body: Buffer }> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': encodings } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(chunks) }))
    }).on('error', reject)
  })
}

const { sol: _outsider, ...INSIDERS } = PEOPLE

test('the state has everything that the page shows, and no secret', async () => {
  const { call, post, sandbox } = await openStage()
  const ts = await post()
  await post({ thread_ts: ts, text: 'reply', reply_broadcast: true })
  await call('chat.postEphemeral', { channel: BUILDS, user: PEOPLE.ada, text: 'only you' })
  const text = await (await fetch(`${sandbox.url}/sandbox/state`)).text()
  const { channels } = objectOf(JSON.parse(text))
  expect(listOf(channels)[0]).toMatchObject({
    id: BUILDS,
    name: 'builds',
    hasBot: true,
    members: [...Object.values(INSIDERS), 'U0BUILDBOT'],
    messages: [{ ts, root: null, editCount: 0 }, { root: ts, isBroadcast: true }, { onlyFor: PEOPLE.ada }],
  })
  expect(text).not.toContain(sandbox.botToken)
  expect(text).not.toContain(sandbox.signingSecret)
})

describe('the stream', () => {
  test('sends the state and then the changes after it, so that nothing is missed', async () => {
    const { post, sandbox } = await openStage()
    const before = await post({ text: 'before' })
    const stream = await openStream(`${sandbox.url}/sandbox/events`)
    const after = await post({ text: 'after' })
    expect(await stream.take(1)).toMatchObject([{ kind: 'message', message: { ts: after } }])
    expect(objectOf(listOf(stream.state()['channels'])[0])['messages']).toMatchObject([{ ts: before }])
    expect(stream.order()).toEqual(['state', 'message'])
    await stream.close()
  })

  test('sends new messages, edits, removals and changed channels as they happen', async () => {
    const { call, post, sandbox } = await openStage()
    const stream = await openStream(`${sandbox.url}/sandbox/events`)
    const ts = await post({ text: 'running' })
    await call('chat.update', { channel: BUILDS, ts, text: 'failed' })
    await call('chat.delete', { channel: BUILDS, ts })
    sandbox.acts.archive(BUILDS)
    expect(await stream.take(4)).toMatchObject([
      { kind: 'message', message: { channel: BUILDS, ts, text: 'running', editCount: 0 } },
      { kind: 'message', message: { ts, text: 'failed', editCount: 1 } },
      { kind: 'removed', channel: BUILDS, ts },
      { kind: 'channel', channel: { id: BUILDS, isArchived: true } },
    ])
    await stream.close()
  })
})

/** Reads a stream of server-sent events, beginning with the state. */
async function openStream(url: string) {
  const response = await fetch(url)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const readUntil = async (isEnough: () => boolean) => {
    while (!isEnough()) {
      const { value, done } = await reader.read()
      if (done) throw new Error('the stream ended')
      text += value
    }
  }
  await readUntil(() => /event: state\ndata: .*\n/.test(text))
  const events = () => [...text.matchAll(/^data: (\{"kind".*)$/gm)].map(([, json = '']) => objectOf(JSON.parse(json)))
  const take = async (count: number) => {
    await readUntil(() => events().length >= count)
    return events()
  }
  const state = () => objectOf(JSON.parse(/^event: state\ndata: (.*)$/m.exec(text)?.[1] ?? ''))
  const order = () => [...text.matchAll(/^(?:event: (state)|data: \{"kind":"(\w+)")/gm)].map(([, a, b]) => a ?? b)
  return { take, state, order, close: () => reader.cancel() }
}

describe('mrkdwn', () => {
  const text = (content: string) => ({ kind: 'text', text: content })
  const names = { users: { [PEOPLE.ada]: 'Ada' }, channels: { [BUILDS]: 'builds' } }

  test.each<[string, object[]]>([
    [
      '*bold* _it_ ~gone~',
      [
        { kind: 'bold', children: [text('bold')] },
        text(' '),
        { kind: 'italic', children: [text('it')] },
        text(' '),
        { kind: 'strike', children: [text('gone')] },
      ],
    ],
    ['`*a* <b>`', [{ kind: 'code', text: '*a* <b>' }]],
    ['a &lt;b&gt; &amp;amp;', [text('a <b> &amp;')]],
    ['snake_case_name 2*3*4', [text('snake_case_name 2*3*4')]],
    [':x: :nope:', [{ kind: 'emoji', text: '❌', name: 'x' }, text(' '), text(':nope:')]],
    ['<https://ci.test/1|build 1>', [{ kind: 'link', url: 'https://ci.test/1', children: [text('build 1')] }]],
    [
      '<https://ci.test/?a=1&amp;b=2>',
      [{ kind: 'link', url: 'https://ci.test/?a=1&b=2', children: [text('https://ci.test/?a=1&b=2')] }],
    ],
    [
      `<@${PEOPLE.ada}> <#${BUILDS}> <!channel>`,
      [
        { kind: 'mention', text: '@Ada' },
        text(' '),
        { kind: 'mention', text: '#builds' },
        text(' '),
        { kind: 'mention', text: '@channel' },
      ],
    ],
    ['<javascript:alert(1)|click>', [text('click')]],
    ['<!date^nope^{time}|14:02>', [text('14:02')]],
    [':constructor:', [text(':constructor:')]],
  ])('%s', (source, nodes) => expect(parseMrkdwn(source, names)).toEqual(nodes))

  test.each(['Nudge the logo <two> pixels & *more*', 'a *b* _c_ ~d~ :tada: *e*', 'größe_maß_x and x_', '> *quoted*'])(
    'text that the bot has escaped is drawn as it was typed: %s',
    (message) => {
      const drawn = parseMrkdwn(`*Failed* acme/web #512 · Grace: ${escapeMrkdwn(message)}`)
      expect(drawn.map((node) => [node.kind, 'text' in node ? node.text.replaceAll('\u00ad', '') : ''])).toEqual([
        ['bold', ''],
        ['text', ` acme/web #512 · Grace: ${message}`],
      ])
    },
  )

  test('the same text is bold if it is escaped without soft hyphens', () => {
    expect(parseMrkdwn('pixels &amp; *more*').map(({ kind }) => kind)).toEqual(['text', 'bold'])
  })

  test('a date is shown in the reader’s time zone', () => {
    const [node] = parseMrkdwn('<!date^1785420120^at {time}|14:02 UTC>')
    expect(node).toMatchObject({
      kind: 'time',
      text: expect.stringMatching(/^at \d\d:\d\d$/),
      iso: '2026-07-30T14:02:00.000Z',
    })
  })

  test('a long text that has only marks is parsed within a second', () => {
    const startedMs = performance.now()
    parseMrkdwn('*_~`<:'.repeat(500))
    expect(performance.now() - startedMs).toBeLessThan(1_000)
  })
})

describe('typed text', () => {
  const place = { user: PEOPLE.ada, channel: BUILDS }

  test.each<[string, TypedAt, object | null]>([
    ['/ci list web', place, { deed: { kind: 'command', ...place, command: '/ci', text: 'list web' } }],
    ['/ci-list', place, { deed: { kind: 'command', ...place, command: '/ci-list', text: '' } }],
    ['/ci stop <web>', place, { deed: { kind: 'command', ...place, command: '/ci', text: 'stop &lt;web&gt;' } }],
    ['hello\n', place, { deed: { kind: 'say', ...place, text: 'hello' } }],
    ['a & <!channel>', place, { deed: { kind: 'say', ...place, text: 'a &amp; &lt;!channel&gt;' } }],
    [' /ci list', place, { deed: { kind: 'say', ...place, text: ' /ci list' } }],
    ['/ ci', place, { deed: { kind: 'say', ...place, text: '/ ci' } }],
    [
      '@Buildline status',
      { ...place, threadTs: '1.0' },
      { deed: { kind: 'say', ...place, text: '@Buildline status', threadTs: '1.0' } },
    ],
    [
      '/ci status',
      { ...place, threadTs: '1.0' },
      { trouble: 'Slack runs no commands in threads. Write @Buildline and what it should do.' },
    ],
    [' \n', place, null],
  ])('%j', (text, at, meaning) => expect(readTyped(text, at, 'Buildline')).toEqual(meaning))
})

describe('the error line', () => {
  test.each<[Outcome, string]>([
    [{ kind: 'late', what: 'command /ci' }, 'Buildline did not answer in time (command /ci).'],
    [{ kind: 'unreachable', what: 'click stop' }, 'Buildline cannot be reached (click stop).'],
    [{ kind: 'answered', what: 'click stop', status: 404 }, 'Buildline answered with an error, 404 (click stop).'],
    [
      { kind: 'answered', what: 'command /ci', status: 200, refusal: 'invalid_blocks' },
      'Slack refuses what Buildline answered: invalid_blocks (command /ci).',
    ],
    [{ ok: false, error: 'no bot is connected' }, 'That did not work: no bot is connected.'],
  ])('%j', (outcome, words) => expect(troubleOf(outcome, 'Buildline')).toBe(words))

  test.each<Outcome>([
    { kind: 'answered', what: 'command /ci', status: 200 },
    { kind: 'said', ts: '1.0' },
    { kind: 'unsent', because: 'not_confirmed' },
  ])('is empty for %j', (outcome) => expect(troubleOf(outcome, 'Buildline')).toBeNull())

  test.each([
    ['press', 404, true],
    ['suggest', 404, true],
    ['press', 503, false],
    ['submit', 404, false],
    ['click', 404, false],
  ])('drops what comes too late for its form: %s answered with %i, %s', (kind, status, isDropped) => {
    expect(isTooLate({ kind, user: PEOPLE.ada }, status)).toBe(isDropped)
  })
})

test('a message is read aloud without its marks', () => {
  const names = { users: { [PEOPLE.ada]: 'Ada' } }
  expect(plainText(':white_check_mark: *Passed* <https://ci.test/1|web #512> by <@U0ADA00001> &amp; co', names)).toBe(
    'white check mark Passed web #512 by @Ada & co',
  )
})
