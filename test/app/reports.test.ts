import { describe, expect, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import {
  buildOf,
  delivery,
  openStage,
  rowsOf,
  send,
  sendAll,
  settled,
  startApp,
  until,
  WEBHOOK_SECRET,
  type Build,
  type Stage,
} from '../support/app.ts'
import { BUILDS } from './channel.ts'

const PATH = `/webhooks/reports/${WEBHOOK_SECRET}`
const RECORDED = { status: 202, text: '{"status":"recorded"}' }
const DUPLICATE = { status: 202, text: '{"status":"duplicate"}' }

const failing = (...names: readonly string[]) => names.map((name) => ({ name, message: `${name} went wrong` }))

/** What the build step sends about build 512 of acme/web. */
const reportOf = (report: object, build: Build = {}) => ({
  build: { project_id: 11, build_id: 512, project_name: 'acme/web', branch: 'main', ...build },
  report,
})

const three = { tests: 412, failed: 3, failures: failing('CartTest › sums', 'LoginTest › redirects', 'Prices › round') }

const report = ({ app }: Stage, body: unknown) => send(app.url, body, { path: PATH })

const openFollowed = () => openStage({ settings: { DEFAULT_CHANNEL: BUILDS }, slack: { rates: 'off' } })

/** A build's card and replies, as people see them. */
async function said({ app, slack }: Stage, build = 512): Promise<{ card: string; replies: string[] }> {
  await settled(app.url)
  const messages = messagesIn(slack, BUILDS)
  const card = messages.find(({ threadTs, text }) => threadTs === undefined && text.includes(`#${build}`))!
  const replies = messages.filter(({ threadTs }) => threadTs === card.ts)
  return { card: textsIn(card.attachments).join('\n'), replies: replies.map(({ text }) => text) }
}

/** Every text of these attachments. */
const textsIn = (attachments: readonly Record<string, unknown>[]): string[] =>
  [...JSON.stringify(attachments).matchAll(/"text":("(?:[^"\\]|\\.)*")/g)].map(([, text]) => String(JSON.parse(text!)))

const UNANSWERED = 'select seq from fact where acknowledged = 0'

const kept = ({ folder }: Stage) => rowsOf(folder, 'select build_key, attempt_seq, body from report order by id')

describe('a report', () => {
  test('of a failed build is shown on its card and in its thread', async () => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, { status: 'initiated' })
    expect(await report(stage, reportOf({ ...three, log: ['npm test', 'exit 1'] }))).toMatchObject(RECORDED)
    expect((await said(stage)).card).not.toContain('tests failed')
    await sendAll(stage.app.url, { status: 'error' })
    const { card, replies } = await said(stage)
    expect(card).toContain('3 of 412 tests failed: CartTest › sums · LoginTest › redirects · Prices › round')
    expect(replies).toEqual([
      expect.stringContaining('*Failed*'),
      [
        '*3 of 412 tests failed*',
        '• CartTest › sums: CartTest › sums went wrong',
        '• LoginTest › redirects: LoginTest › redirects went wrong',
        '• Prices › round: Prices › round went wrong',
        '```\nnpm test\nexit 1\n```',
      ].join('\n'),
    ])
  })

  test('that arrives before its build is stored, and shown with it', async () => {
    const stage = await openFollowed()
    expect(await report(stage, reportOf(three))).toMatchObject(RECORDED)
    expect(await report(stage, reportOf(three))).toMatchObject(DUPLICATE)
    await sendAll(stage.app.url, { status: 'error' })
    expect((await said(stage)).card).toContain('3 of 412 tests failed')
    expect(await report(stage, reportOf(three))).toMatchObject(DUPLICATE)
  })

  test('that arrives after the end is shown, and a late shard is added to the existing reply', async () => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, { status: 'initiated' })
    await settled(stage.app.url)
    await sendAll(stage.app.url, { status: 'error' })
    expect((await said(stage)).replies).toHaveLength(1)
    await report(stage, reportOf({ shard: '1/2', tests: 200, failed: 1, failures: failing('b') }))
    expect((await said(stage)).card).toContain('1 of 200 tests failed: b')
    await report(stage, reportOf({ shard: '2/2', tests: 212, failed: 2, failures: failing('a', 'c') }))
    const { card, replies } = await said(stage)
    expect(card).toContain('3 of 412 tests failed: a · b · c')
    expect(replies).toEqual([expect.anything(), expect.stringContaining('*3 of 412 tests failed*')])
    await report(stage, reportOf({ shard: '2/2', tests: 212, failed: 0, failures: [] }))
    expect((await said(stage)).card).toContain('1 of 412 tests failed: b')
    expect(kept(stage)).toHaveLength(2)
  })

  test('of a passing build is not shown', async () => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, { status: 'initiated' })
    await report(stage, reportOf(three))
    await settled(stage.app.url)
    await sendAll(stage.app.url, { status: 'success' })
    const { card, replies } = await said(stage)
    expect(card).not.toContain('tests failed')
    expect(replies).toHaveLength(1)
  })

  test('belongs to the attempt that runs or ended last when it arrives; a restart gets its own', async () => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, { status: 'initiated' })
    await report(stage, reportOf(three))
    await sendAll(stage.app.url, { status: 'error' })
    await said(stage)
    // Before its answer is known to have arrived, the same start would count as a repetition.
    await until('the start is acknowledged', () => rowsOf(stage.folder, UNANSWERED).length === 0)
    await sendAll(stage.app.url, { status: 'initiated' })
    expect(await report(stage, reportOf({ ...three, failed: 1, failures: failing('z') }))).toMatchObject(RECORDED)
    await sendAll(stage.app.url, { status: 'error' })
    const { card, replies } = await said(stage)
    expect(card).toContain('1 of 412 tests failed: z')
    expect(replies.filter((text) => text.includes('tests failed')).map((text) => text.split('\n')[0])).toEqual([
      '*3 of 412 tests failed*',
      'Attempt 2 · *1 of 412 tests failed*',
    ])
    expect(kept(stage).map((row) => row['attempt_seq'])).toEqual([1, 3])
  })

  test('names tests that fail newly, and says if they are the same as before', async () => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, buildOf(510, { status: 'success' }))
    await report(stage, reportOf({ tests: 400, failed: 0 }, { build_id: 510 }))
    await sendAll(stage.app.url, buildOf(511, { status: 'error' }), buildOf(512, { status: 'error' }))
    await report(stage, reportOf({ tests: 412, failed: 1, failures: failing('sums') }))
    expect((await said(stage)).card).toContain('1 of 412 tests failed: sums')
    expect((await said(stage)).card).not.toContain('new')
    await report(stage, reportOf({ tests: 411, failed: 1, failures: failing('sums') }, { build_id: 511 }))
    expect((await said(stage, 511)).card).toContain('1 of 411 tests failed: sums (new)')
    // The next build gets its own report.
    expect((await said(stage)).card).toContain('1 of 412 tests failed, the same test again: sums')
    await report(stage, reportOf({ tests: 412, failed: 2, failures: failing('sums', 'taxes') }))
    expect((await said(stage)).card).toContain('2 of 412 tests failed: taxes (new) · sums')
  })

  test('of a build with a UUID that is known by number is about that build', async () => {
    const stage = await openFollowed()
    const uuid = '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8'
    await sendAll(stage.app.url, { status: 'error', build_uuid: uuid })
    await settled(stage.app.url)
    await report(stage, reportOf(three, { build_id: uuid }))
    expect((await said(stage)).card).toContain('3 of 412 tests failed')
  })

  test('is still there after a restart of the bot, since it is stored before its answer', async () => {
    const stage = await openFollowed()
    await sendAll(stage.app.url, { status: 'error' })
    await report(stage, reportOf(three))
    await stage.app.stop()
    const app = await startApp(stage.settings)
    try {
      expect((await said({ ...stage, app })).card).toContain('3 of 412 tests failed')
    } finally {
      await app.stop()
    }
  })

  test('is counted separately from deliveries, and logged without its texts', async () => {
    const stage = await openFollowed()
    await report(
      stage,
      reportOf({ ...three, shard: 'canary-shard', log: ['canary-line'] }, { branch: 'canary-branch' }),
    )
    await until('it is counted', async () => {
      const text = await (await fetch(`${stage.app.url}/metrics`)).text()
      return text.includes('buildline_deliveries_total{status="202",answer="recorded",what="report"} 1')
    })
    const lines = stage.app.lines.filter((line) => line.includes('"msg":"report"'))
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { project: '11', build: '512', answer: 'recorded' },
    ])
    expect(stage.app.lines.join('')).not.toMatch(/canary|LoginTest/)
  })
})

describe('the report endpoint', () => {
  const secrets: [name: string, path: string, headers: Record<string, string>][] = [
    ['in the path', PATH, {}],
    ['as the password', '/webhooks/reports', { authorization: `Basic ${btoa(`ci:${WEBHOOK_SECRET}`)}` }],
    ['in the query', `/webhooks/reports?token=${WEBHOOK_SECRET}`, {}],
  ]

  test.each(secrets)('accepts the secret %s', async (_, path, headers) => {
    const { app } = await openStage()
    expect(await send(app.url, reportOf(three), { path, headers })).toMatchObject(RECORDED)
  })

  test('answers invalid requests as the contract says, and stores nothing', async () => {
    const stage = await openStage()
    const { app } = stage
    const asked = async (body: unknown, sending: object = {}) => {
      const { status, text } = await send(app.url, body, { path: PATH, ...sending })
      return `${status} ${(JSON.parse(text) as { reason: string }).reason}`
    }
    expect(await asked(three, { method: 'GET' })).toBe('405 only POST is supported')
    expect(await asked(reportOf(three), { path: '/webhooks/reports/canary' })).toBe('404 not found')
    expect(await asked(reportOf(three), { path: '/webhooks/reports' })).toBe('404 not found')
    expect(await asked('canary', { headers: { 'content-type': 'text/xml' } })).toMatch(/^415 /)
    expect(await asked('{"canary"')).toMatch(/^400 [^c]*$/)
    expect(await asked('[]')).toBe('400 the body has no object "build"')
    expect(await asked(delivery())).toBe('400 the body has no object "report"')
    expect(await asked(reportOf(three, { project_id: 'canary' }))).toBe('400 build.project_id is not an integer id')
    expect(await asked(reportOf(three, { build_id: 'canary' }))).toBe(
      '400 build.build_id is neither an integer id nor a UUID',
    )
    expect(await asked(reportOf({ log: ['x'.repeat(64 * 1024)] }))).toBe('413 the body is larger than 65536 bytes')
    expect(await asked('['.repeat(1_000))).toMatch(/^400 /)
    expect(kept(stage)).toEqual([])
  })

  test('throttles wrong secrets, but not right ones', async () => {
    const { app } = await openStage()
    const wrong = () => send(app.url, reportOf(three), { path: '/webhooks/reports/wrong' })
    for (let i = 0; i < 20; i++) expect((await wrong()).status).toBe(404)
    expect((await wrong()).headers.get('retry-after')).not.toBeNull()
    expect((await wrong()).status).toBe(429)
    expect(await send(app.url, reportOf(three), { path: PATH })).toMatchObject(RECORDED)
  })

  test('treats values that it does not understand as missing', async () => {
    const stage = await openStage()
    const odd = {
      shard: 2,
      tests: '7',
      failed: 'many',
      failures: ['a', 5, { name: ' ' }, { name: 'b', message: 3 }],
    }
    expect(await report(stage, reportOf(odd, { project_id: '11', branch: null }))).toMatchObject(RECORDED)
    expect(kept(stage).map(({ body }) => JSON.parse(String(body)) as object)).toEqual([
      {
        by: 'step',
        part: '2',
        tests: 7,
        failed: 4,
        failures: [{ test: 'a' }, { test: '5' }, { test: 'b' }],
        flakyTests: [],
        log: [],
      },
    ])
  })

  test('limits the number and length of names, and the number of shards', async () => {
    const stage = await openStage()
    const failures = Array.from({ length: 250 }, (_, i) => ({ name: `${i} ${'x'.repeat(100)}` }))
    await report(stage, reportOf({ tests: 300, failed: 299, failures }))
    await report(
      stage,
      reportOf({ shard: 'long', failures: [{ name: 'x'.repeat(400), message: `a\n${'y'.repeat(400)}` }] }),
    )
    const [many, long] = kept(stage).map(({ body }) => JSON.parse(String(body)))
    expect([many.failed, many.failures.length]).toEqual([299, 200])
    expect(long.failures).toEqual([{ test: 'x'.repeat(300), message: 'a' }])
    for (let shard = 0; shard < 100; shard++) await report(stage, reportOf({ shard: `${shard}`, tests: 1 }))
    expect(kept(stage)).toHaveLength(100)
  })

  test('answers 503 with a Retry-After if it cannot store', async () => {
    const stage = await openStage()
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(`${stage.folder}/buildline.db`)
    db.exec('begin exclusive')
    try {
      const { status, headers } = await report(stage, reportOf(three))
      expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    } finally {
      db.exec('rollback')
      db.close()
    }
    expect(await report(stage, reportOf(three))).toMatchObject(RECORDED)
  }, 20_000)
})

test('escapes outside text, which mentions, links and formats nothing and ends no code block', async () => {
  const stage = await openFollowed()
  const hostile = '<!channel> <@U0ADA00001> *x* ```\u202egnp.exe\u0007 https://evil.example'
  await sendAll(stage.app.url, { status: 'error' })
  const failures = [{ name: hostile, message: `${hostile}\nsecond line` }]
  await report(stage, reportOf({ tests: 1, failed: 1, failures, log: [hostile, '', '```', '\u2066<!here>'] }))
  await settled(stage.app.url)
  const all = stage.slack.messages(BUILDS).map((message) => JSON.stringify(message))
  const text = all.join('\n')
  expect(text).not.toMatch(/<!(?!date)|<@U0ADA|\u202e|\u2066|evil\.example>/)
  expect(text).not.toContain('second line')
  expect(text.match(/```/g)).toHaveLength(2)
})
