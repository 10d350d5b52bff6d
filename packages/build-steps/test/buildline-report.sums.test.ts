import { createWriteStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { describe, expect, it } from 'vitest'
import { FAILED, FIXTURES, folderWith, report, reportOf } from './report.ts'
import { startProgram, type runProgram } from './support.ts'

/** For each runner's report: tests, failed, skipped, flaky; the failures with their messages; the flaky tests. */
const RUNNERS: Readonly<Record<string, [sums: number[], failures: string[], flaky: string[]]>> = {
  gotestsum: [
    [6, 3, 1, 1],
    [
      'login › TestRedirects: login_test.go:10: status is 200, want 302',
      'login › TestPrice/1.5: login_test.go:20: "1.5" is too short',
      'login › TestPrice: Failed',
    ],
    ['login › TestSums'],
  ],
  jest: [
    [6, 3, 1, 0],
    [
      'LoginTest redirects: Error: expect(received).toBe(expected) // Object.is equality',
      'CartTest when empty costs nothing: TypeError: the cart is not iterable',
      'a price has two digits: Error: expect(received).toBe(expected) // Object.is equality',
    ],
    [],
  ],
  'maven-surefire': [
    [5, 2, 1, 1],
    ['LoginTest › opens: no database <yet>', 'LoginTest › redirects: status expected:<302> but was:<200>'],
    ['LoginTest › sums'],
  ],
  phpunit: [
    [5, 3, 1, 0],
    [
      'LoginTest › testRedirects: Failed asserting that 200 is identical to 302.',
      'LoginTest › testOpens: RuntimeException: no database <yet>',
      'LoginTest › testPriceHasTwoDigits with data set "short": 1.5 is too short',
    ],
    [],
  ],
  playwright: [
    [10, 2, 2, 1],
    ['chromium', 'firefox'].map(
      (browser) => `LoginTest › redirects [${browser}]: expect(received).toBe(expected) // Object.is equality`,
    ),
    ['CartTest › sums'],
  ],
  pytest: [
    [7, 4, 2, 0],
    [
      'TestLogin › test_redirects: assert 200 == 302',
      'test_shop › test_opens: failed on setup with "ConnectionError: no database <yet>"',
      'test_shop › test_sums: failed on teardown with "RuntimeError: the cart was not put back"',
      'test_shop › test_price_has_two_digits[1.5]: AssertionError: 1.5 is too short',
    ],
    [],
  ],
  rspec: [
    [4, 2, 1, 0],
    ['Login redirects: expected: 302', 'Login when the cart is empty costs nothing: the cart is no list'],
    [],
  ],
  vitest: [
    [6, 3, 1, 0],
    [
      'LoginTest › redirects: status: expected 200 to be 302 // Object.is equality',
      'CartTest › when empty › costs nothing: the cart is not iterable',
      "shop.test.ts › a price has two digits: expected '1.5' to be '1.50' // Object.is equality",
    ],
    [],
  ],
}

describe('the report of a runner', () => {
  it('has a fixture for each runner', () => expect(readdirSync(FIXTURES).sort()).toEqual(Object.keys(RUNNERS)))

  it.each(Object.entries(RUNNERS))('is read: %s', async (runner, [sums, failures, flaky]) => {
    const { code, stderr, sent } = await report(join(FIXTURES, runner))
    expect([code, stderr]).toEqual([0, ''])
    const { report: read } = sent!
    expect([read.tests, read.failed, read.skipped, read.flaky]).toEqual(sums)
    expect(read.failures.map(({ name, message }) => `${name}: ${message}`)).toEqual(failures)
    expect(read.flaky_tests).toEqual(flaky)
    expect(read.duration_ms).not.toBeNull()
  })

  it.each(Object.keys(RUNNERS))('names no folder of the machine that made it: %s', (runner) => {
    const text = ['report.xml', 'README.md'].map((file) => readFileSync(join(FIXTURES, runner, file), 'utf8')).join('')
    expect(text).not.toMatch(/\/(?:tmp|root|home|work)\b/)
  })
})

const sumsOf = async (cases: string) => {
  const { sent, stderr } = await reportOf(cases)
  const { tests, failed, skipped, flaky, flaky_tests, failures, duration_ms } = sent?.report ?? {}
  return { stderr, sums: [tests, failed, skipped, flaky], flaky_tests, failures, duration_ms }
}

const test = (name: string, inner = '') => `<testcase classname="CartTest" name="${name}">${inner}</testcase>`

describe('a sum', () => {
  it('counts test cases, and ignores the totals of suites', async () => {
    const lying = `<testsuite name="Outer" tests="99" failures="98" time="97">${test('a')}
      <testsuite name="Inner" tests="99" errors="96">${test('b', '<error message="x"/>')}</testsuite></testsuite>`
    expect(await sumsOf(lying)).toMatchObject({ sums: [2, 1, 0, 0], duration_ms: null })
  })

  it('counts a test with a failure and an error once, and one that is both skipped and failed as failed', async () => {
    const cases = [
      test('a', '<failure message="first"/><error message="second"/>'),
      test('b', '<skipped/><failure/>'),
      test('c', '<system-out>&lt;failure/></system-out><properties><failure/></properties>'),
    ]
    const { sums, failures } = await sumsOf(cases.join(''))
    expect(sums).toEqual([3, 2, 0, 0])
    expect(failures![0]).toEqual({ name: 'CartTest › a', message: 'first' })
  })

  it('counts tests with huge names separately, though they differ only at the end', async () => {
    const huge = 'x'.repeat(2_000)
    const cases = [1, 2].map((n) => `<testcase classname="${huge}.End" name="${huge}${n}"><failure/></testcase>`)
    const { sums, failures } = await sumsOf(cases.join(''))
    expect(sums).toEqual([2, 2, 0, 0])
    expect(failures!.map(({ name }) => name)).toEqual([`${'x'.repeat(299)}…`, `${'x'.repeat(299)}…`])
  })

  it('counts a test that Surefire retried as flaky, unless it failed in the end', async () => {
    const cases = [
      test('a', '<flakyFailure message="x"/>'),
      test('b', '<flakyError message="x"/><flakyError message="x"/>'),
      test('c', '<rerunFailure message="x"/>'),
      test('d', '<failure message="x"/><rerunFailure message="y"/>'),
    ]
    expect(await sumsOf(cases.join(''))).toMatchObject({
      sums: [4, 1, 0, 3],
      flaky_tests: ['CartTest › a', 'CartTest › b', 'CartTest › c'],
    })
  })

  it('counts a test that appears several times once, with its last result', async () => {
    const [pass, fail, skip] = ['', '<failure message="x"/>', '<skipped/>']
    const cases = [
      ...[fail, fail, pass].map((inner) => test('a', inner)),
      ...[pass, fail].map((inner) => test('b', inner)),
      ...[fail, pass, fail].map((inner) => test('c', inner)),
      ...[fail, skip].map((inner) => test('d', inner)),
      ...[fail, pass, pass].map((inner) => test('e', inner)),
    ]
    const { sums, failures, flaky_tests } = await sumsOf(cases.join(''))
    expect(sums).toEqual([5, 2, 1, 2])
    expect(failures!.map(({ name }) => name)).toEqual(['CartTest › b', 'CartTest › c'])
    expect(flaky_tests).toEqual(['CartTest › a', 'CartTest › e'])
  })

  it('counts tests with the same name in different suites or files separately', async () => {
    const cases = `<testsuite name="One">${test('a', '<failure/>')}</testsuite><testsuite name="Two">${test('a')}</testsuite>`
    expect((await sumsOf(cases)).sums).toEqual([2, 1, 0, 0])
    const { sent } = await report(folderWith({ 'a.xml': `<a>${FAILED}</a>`, 'b.xml': `<a>${FAILED}</a>` }))
    expect(sent!.report.tests).toBe(2)
  })

  it('adds up the durations of test cases', async () => {
    const times = ['0.25', '1,234.5', '0', 'soon', '-1']
    const cases = times.map((time, at) => `<testcase name="t${at}" time="${time}"/>`).join('')
    expect((await sumsOf(cases)).duration_ms).toBe(1_234_750)
  })
})

describe('a name', () => {
  const nameOf = async (xml: string) => (await sumsOf(xml)).failures![0]!.name

  it.each([
    ['com.acme.shop.LoginTest', 'redirects()', 'LoginTest › redirects'],
    ['com.acme.LoginTest$Guest', 'redirects', 'LoginTest › Guest › redirects'],
    ['Acme\\Tests\\LoginTest', 'redirects', 'LoginTest › redirects'],
    ['Acme.LoginTest', 'Acme.LoginTest.Redirects', 'LoginTest › Redirects'],
    ['src/login.test.ts', 'LoginTest &gt; guest &gt; redirects', 'LoginTest › guest › redirects'],
    ['src/login.test.ts', 'redirects', 'login.test.ts › redirects'],
    ['login redirects', 'login redirects', 'login redirects'],
    ['redirects a guest', 'LoginTest redirects a guest', 'LoginTest redirects a guest'],
    ['the v1.2 login', 'redirects', 'the v1.2 login › redirects'],
    ['', 'redirects', 'Shop › redirects'],
    ['LoginTest', '', 'LoginTest'],
    ['', '\u202e&#x1b;[31mred#x1B[0m\u200b&#27;[1m\nand more\u0007', 'Shop › red and more'],
  ])('of %j and %j is %s', async (classname, name, said) => {
    expect(await nameOf(`<testcase classname="${classname}" name="${name}"><failure/></testcase>`)).toBe(said)
  })

  it('begins with the names of its suites, without repetitions and files', async () => {
    const inner = '<testcase name="redirects"><failure/></testcase>'
    const nested = ['Root Suite', 'src/a.spec.js', 'Login', 'Login guest', 'from afar'].reduceRight(
      (within, name) => `<testsuite name="${name}">${within}</testsuite>`,
      inner,
    )
    expect(await nameOf(nested)).toBe('Shop › Login guest › from afar › redirects')
  })

  it('and a message are cut at 300 characters, with an ellipsis', async () => {
    const [exact, long] = ['😀'.repeat(300), '😀'.repeat(301)]
    for (const text of [exact, long]) {
      const cases = `<testcase classname="${text}" name="${text}"><failure message="${text}\nmore"/></testcase>`
      const { name, message } = (await sumsOf(cases)).failures![0]!
      expect([name, message]).toEqual(Array(2).fill(text === exact ? exact : `${'😀'.repeat(299)}…`))
    }
  })
})

describe('a large report', () => {
  it('is cut to 64 KiB, with counts that include the rest', async () => {
    const words = '"\\😀'.repeat(100)
    const failing = (at: number) => test(`f${at} ${words.replaceAll('"', '&quot;')}`, `<failure>${words}</failure>`)
    const { sent, requests } = await reportOf(Array.from({ length: 500 }, (_, at) => failing(at)).join(''), {
      args: ['--junit', '*.xml', '--log', 'report.xml'],
    })
    expect(Buffer.byteLength(requests[0]!.body)).toBeLessThanOrEqual(64 * 1024)
    expect(Buffer.byteLength(requests[0]!.body)).toBeGreaterThan(60 * 1024)
    expect(sent!.report).toMatchObject({ tests: 500, failed: 500 })
    expect(sent!.report.failures.length).toBeGreaterThan(10)
  })

  it('names 200 failures at most', async () => {
    const { sent } = await reportOf(Array.from({ length: 201 }, (_, at) => test(`f${at}`, '<failure/>')).join(''))
    expect([sent!.report.failed, sent!.report.failures.length]).toEqual([201, 200])
  })

  const LONG = 'x'.repeat(20_000)
  it.each([
    ['tests', (at: number) => `<testcase classname="com.acme.Test" name="test number ${at}" time="0.001"/>\n`],
    ['failures', (at: number) => test(`f${at}`, `<failure message="${LONG}"><![CDATA[${LONG}]]></failure>`)],
    ['output', (at: number) => test(`o${at}`, `<system-out><![CDATA[${LONG.repeat(500)}]]></system-out>`)],
  ])('of 16 MB, of %s, is read within 24 MB of heap', { timeout: 120_000 }, async (_, caseOf) => {
    const folder = folderWith({ 'report.xml': '' })
    const count = await writeReport(join(folder, 'report.xml'), caseOf)
    const { code, stderr, sent } = await report(folder, { run: inSmallHeap })
    expect([code, stderr, sent?.report.tests]).toEqual([0, '', count])
  })
})

const inSmallHeap: typeof runProgram = (program, args, surroundings) =>
  startProgram(program, args, surroundings, ['--max-old-space-size=24'])

/** Writes test cases until 16 MB are full; returns how many. */
async function writeReport(path: string, caseOf: (at: number) => string): Promise<number> {
  const file = createWriteStream(path)
  file.write('<testsuite name="Large">')
  let bytes = 0
  let count = 0
  for (; bytes < 16 * 1024 * 1024; count += 1) {
    const text = caseOf(count)
    bytes += text.length
    if (!file.write(text)) await new Promise((resolve) => file.once('drain', resolve))
  }
  file.end('</testsuite>')
  await finished(file)
  return count
}
