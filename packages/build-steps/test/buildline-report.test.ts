import { execFileSync } from 'node:child_process'
import { symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StubAnswer } from '../../../test/support/http-stub.ts'
import { FAILED, folderWith, RECORDED, report, reportOf, SECRET } from './report.ts'
import { closedAddress, runProgram } from './support.ts'

const suite = (cases: string) => `<testsuite name="Shop">${cases}</testsuite>`
const PASSED = '<testcase classname="CartTest" name="sums" time="0.5"/>'

describe('buildline report', () => {
  it('sends the bot which tests of which build failed', async () => {
    const folder = folderWith({ 'a/one.xml': suite(FAILED), 'b/c/two.xml': suite(PASSED), 'b/notes.txt': 'no XML' })
    const { code, stdout, stderr, requests, sent } = await report(folder, {
      args: ['--junit', 'a/*.xml', '--junit=b/**/*.xml', '--shard', '2/4'],
      env: { BUILDLINE_BRANCH: 'main', BUILDLINE_STATUS: 'error' },
    })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe('buildline: reported: 1 of 2 tests failed in build #512 (recorded)\n')
    expect([requests[0]!.method, requests[0]!.path, requests[0]!.query.size]).toEqual(['POST', '/webhooks/reports', 0])
    expect(requests[0]!.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`buildline:${SECRET}`).toString('base64')}`,
    })
    expect(sent).toEqual({
      build: { project_id: 11, build_id: 512 },
      report: {
        shard: '2/4',
        tests: 2,
        failed: 1,
        skipped: 0,
        flaky: 0,
        duration_ms: 500,
        failures: [{ name: 'LoginTest › redirects', message: 'got 200' }],
        flaky_tests: [],
        log: [],
      },
    })
  })

  it('sends null if shard and duration are not given, and prints that the bot already had the report', async () => {
    const duplicate = { status: 202, json: { status: 'duplicate' } }
    const { stdout, sent } = await reportOf(FAILED, { answers: [duplicate] })
    expect(sent!.report).toMatchObject({ shard: null, duration_ms: null })
    expect(stdout).toContain('(duplicate)')
  })

  it.each(['/webhooks/builds', '/webhooks/reports/', '/'])('takes the same addresses as notify: …%s', async (path) => {
    const stub = await closedAddress()
    const { stderr } = await reportOf(FAILED, { env: { BUILDLINE_URL: `${stub}${path}` }, args: TWICE_QUICKLY })
    expect(stderr).toContain('could not be reached')
  })
})

const TWICE_QUICKLY = ['--junit', '*.xml', '--deadline', '1']

describe('the files', () => {
  const files = { 'a/x1.xml': suite(FAILED), 'a/b/x2.xml': suite(PASSED), 'a/b/.c/x10.xml': suite(PASSED) }

  it.each([
    ['a/x1.xml', 1],
    ['a/*.xml', 1],
    ['a/?1.xml', 1],
    ['a/**/x?.xml', 2],
    ['**/*.xml', 3],
    ['./**', 3],
    ['a/**/b/**/*.xml', 2],
    [`${'**/'.repeat(50)}*.xml`, 3],
    ['a/*/x2.xml', 1],
    ['A/*.xml', 0],
    ['a/x[1].xml', 0],
  ])('that match %s are %i', async (glob, count) => {
    const { sent, stderr } = await report(folderWith(files), { args: ['--junit', glob] })
    expect(sent?.report.tests ?? 0).toBe(count)
    if (count === 0) expect(stderr).toBe(`buildline: nothing is reported: no file matches ${glob}\n`)
  })

  it('are each read once, and none below node_modules, .git or a link', async () => {
    const folder = folderWith({
      'in/x.xml': suite(FAILED),
      'in/node_modules/x.xml': suite(FAILED),
      'in/.git/x.xml': suite(FAILED),
    })
    symlinkSync(folder, join(folder, 'in/round'))
    symlinkSync(join(folder, 'in/x.xml'), join(folder, 'in/link.xml'))
    const { sent } = await report(folder, { args: ['--junit', 'in/**/*.xml', '--junit', join(folder, '**/in/x.xml')] })
    expect(sent!.report).toMatchObject({ tests: 1, failed: 1 })
  })
})

describe('an unreadable report', () => {
  it.each([
    ['is broken', '<testsuite><testcase name="a">', 'it is not complete XML (line 1: Unclosed root tag)'],
    ['is no XML', 'no tests found', 'it is not complete XML (line 1: Non-whitespace before first tag.)'],
    ['names an entity', '<testsuite name="&who;"/>', 'it is not complete XML (line 1: Invalid character entity)'],
    ['has a DTD', `<!DOCTYPE a SYSTEM "b.dtd">${suite(FAILED)}`, 'it declares a document type or entities'],
    ['declares entities', `<!DOCTYPE a [<!ENTITY b "${'c'.repeat(99)}">]><a>&b;</a>`, 'it declares a document type'],
    ['is nested for ever', '<a>'.repeat(200_000), 'its elements are nested more than 100 deep'],
    ['has many attributes', `<a ${Array.from({ length: 101 }, (_, at) => `a${at}=""`).join(' ')}/>`, 'attributes'],
    ['has one huge attribute', `<a b="${'c'.repeat(400_000)}"/>`, 'Max buffer length exceeded: attribValue'],
  ])('that %s is left out, and the others are sent', async (_, text, words) => {
    const folder = folderWith({ 'bad.xml': text, 'good.xml': suite(PASSED) })
    const { code, stderr, sent } = await report(folder)
    expect([code, stderr.trimEnd().split('\n').length]).toEqual([0, 1])
    expect(stderr).toContain('buildline: bad.xml is left out: ')
    expect(stderr).toContain(words)
    expect(sent!.report).toMatchObject({ tests: 1, failed: 0 })
  })

  it.each([
    ['broken XML', { 'a.xml': '<testsuite>' }],
    ['a report cut off after a test', { 'a.xml': `<testsuite>${FAILED}` }],
    ['an empty file', { 'a.xml': '' }],
    ['no test', { 'a.xml': '<coverage/>' }],
    ['no file', {}],
    ['eight that are broken', Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`${at}.xml`, '<a>']))],
  ])('causes one line, and does not fail the step even with --strict: %s', async (_, files) => {
    const { code, stdout, stderr, tries } = await report(folderWith(files), { args: ['--junit', '*.xml', '--strict'] })
    expect([code, stdout, tries]).toEqual([0, '', 0])
    expect(stderr).toMatch(/^buildline: nothing is reported: [^\n]+\n$/)
  })

  it('is one over 256 MiB; one of 256 MiB is read', async () => {
    for (const [bytes, words] of [
      [256 * 1024 * 1024, 'not complete XML'],
      [256 * 1024 * 1024 + 1, 'large.xml is left out: it is larger than 256 MiB'],
    ] as const) {
      const folder = folderWith({ 'large.xml': 'no XML' })
      truncateSync(join(folder, 'large.xml'), bytes)
      expect(await report(folder)).toMatchObject({ code: 0, tries: 0, stderr: expect.stringContaining(words) })
    }
  })

  it('is not one with 100 nested elements and 100 attributes', async () => {
    const text = `${'<a>'.repeat(99)}<testcase ${Array.from({ length: 100 }, (_, at) => `a${at}=""`).join(' ')}/>`
    const { sent, stderr } = await report(folderWith({ 'a.xml': `${text}${'</a>'.repeat(99)}` }))
    expect([stderr, sent!.report.tests]).toEqual(['', 1])
  })

  it('that is a pipe is not awaited, and neither is such a log', async () => {
    const folder = folderWith({ 'good.xml': suite(FAILED) })
    execFileSync('mkfifo', [join(folder, 'pipe.xml')])
    const { code, stderr, sent } = await report(folder, { args: ['--junit', '*.xml', '--log', 'pipe.xml'] })
    expect([code, sent!.report.tests]).toEqual([0, 1])
    expect(stderr).toBe('buildline: the log pipe.xml cannot be read; the report goes without it\n')
  })
})

describe('wrong usage', () => {
  it('names everything that is missing at once, with exit code 2', async () => {
    const { code, stderr } = await runProgram('buildline', ['report', '--shard', '5/4'])
    expect(code).toBe(2)
    for (const name of ['URL', 'SECRET', 'PROJECT_ID', 'BUILD_ID']) expect(stderr).toContain(`BUILDLINE_${name}`)
    expect(stderr).toContain('--junit is not given')
    expect(stderr).toContain('--shard is not a part such as 2/4')
    expect(stderr).not.toContain('STATUS')
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it.each([
    ['--status', 'success', 'unknown option "--status"'],
    ['--shard', 'two', '--shard is not a part'],
    ['--shard', '0/4', '--shard is not a part'],
    ['--build-id', '12a', 'is neither an integer id nor a uuid'],
    ['--url', 'https://bot.example/webhooks/reports/canary', 'the secret belongs in BUILDLINE_SECRET'],
    ['--url', 'https://bot.example/webhooks/github/reports/canary', 'the secret belongs in BUILDLINE_SECRET'],
    ['--url', 'https://bot.example/webhooks/builds/canary', 'the secret belongs in BUILDLINE_SECRET'],
  ])('is %s %s', async (flag, value, words) => {
    const { code, stderr, tries } = await reportOf(FAILED, { args: ['--junit', '*.xml', flag, value] })
    expect([code, tries]).toEqual([2, 0])
    expect(stderr).toContain(words)
    expect(stderr).not.toContain('canary')
  })

  it('is an option without a value', async () => {
    expect(await reportOf(FAILED, { args: ['--junit'] })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--junit needs a value. See buildline report --help'),
    })
  })

  it('is answered by --help', async () => {
    const { code, stdout } = await runProgram('buildline', ['report', '--help'])
    expect(code).toBe(0)
    for (const word of ['--junit', '--log', '--shard', '--build-id', 'BUILDLINE_PROJECT_ID', '--strict', '***'])
      expect(stdout).toContain(word)
    expect((await runProgram('buildline', ['help'])).stdout).toContain('buildline report')
  })
})

describe('if the bot is in trouble', () => {
  const busy: StubAnswer = { status: 503, headers: { 'retry-after': '0' } }

  it('a report is sent three times, unchanged, and then the build goes on', async () => {
    const { code, stdout, stderr, requests } = await reportOf(FAILED, { answers: [busy] })
    expect([code, stdout, new Set(requests.map(({ body }) => body)).size, requests.length]).toEqual([0, '', 1, 3])
    expect(stderr).toBe(
      'buildline: not reported: 1 of 1 tests failed in build #512: the bot answered 503; tried 3 times; the build goes on\n',
    )
  })

  it('a report is sent again if the answer got lost', async () => {
    const answers: StubAnswer[] = [(response) => void response.destroy(), RECORDED]
    expect(await reportOf(FAILED, { answers })).toMatchObject({ code: 0, tries: 2, stderr: '' })
  })

  it('the build goes on if the connection is refused', async () => {
    const { code, stderr } = await reportOf(FAILED, { env: { BUILDLINE_URL: await closedAddress() } })
    expect(code).toBe(0)
    expect(stderr).toMatch(/^[^\n]*could not be reached \(ECONNREFUSED\); tried 3 times; the build goes on\n$/)
  })

  it.each([
    [69, busy],
    [77, { status: 404 }],
    [1, { status: 413, json: { reason: 'too large' } }],
    [1, { status: 200, text: '<p>Sign in</p>' }],
  ] as const)('the step fails with %i with --strict, and not without', async (exitCode, answer) => {
    const args = ['--junit', '*.xml', '--strict']
    expect((await reportOf(FAILED, { args, answers: [answer] })).code).toBe(exitCode)
    expect((await reportOf(FAILED, { answers: [answer] })).code).toBe(0)
  })
})
