import { describe, expect, it } from 'vitest'
import { FAILED, folderWith, report, SECRET } from './report.ts'

const CANARY = 'c4nary/of+the=mine & more'
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEowIBAAKCAQEA7canarycanary\n'.repeat(30)}-----END RSA PRIVATE KEY-----`

const escaped = (text: string) => text.replace(/[&<>"\n]/g, (found) => `&#${found.charCodeAt(0)};`)

/** Runs a report with each text in every field of report and log. Returns everything that leaves the machine. */
async function leaving(text: string | readonly string[], env: Readonly<Record<string, string>> = {}) {
  const texts = [text].flat()
  const suiteOf = (
    xml: string,
  ) => `<testsuite name="${xml}"><testcase classname="${xml}" name="in a name"><failure message="${xml}"/></testcase>
    <testcase name="${xml} and more"><error>${xml}</error></testcase>
    <testcase name="flaky ${xml}"><flakyFailure/></testcase></testsuite>`
  const files = {
    'report.xml': `<testsuites>${texts.map((one) => suiteOf(escaped(one))).join('')}</testsuites>`,
    'build.log': `before\n${texts.join('\n')}\nafter\n`,
  }
  const { code, stdout, stderr, requests, sent } = await report(folderWith(files), {
    args: ['--junit', '*.xml', '--log', 'build.log'],
    env,
  })
  expect([code, stderr, sent!.report.tests]).toEqual([0, '', 3 * texts.length])
  expect(requests[0]!.body).toContain('***')
  return { all: [stdout, stderr, requests[0]!.path, requests[0]!.body].join('\n'), sent: sent! }
}

/** The canary with `between` inserted after every three characters. */
const strewn = (between: string) => CANARY.replace(/.{3}/g, (three) => `${three}${between}`)

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('the value of a variable with a secret-looking name', () => {
  it.each([
    'DEPLOY_TOKEN',
    'CLIENT_SECRET',
    'DB_PASSWORD',
    'PGPASSWD',
    'MAPS_API_KEY',
    'apikey',
    'PRIVATE_THING',
    'AWS_CREDENTIALS',
    'NPM_AUTH',
    'AUTHORIZATION',
    'SSH_KEY',
    'DB_PASS',
  ])('does not leave the machine: %s', async (name) => {
    const { all, sent } = await leaving(`before ${CANARY} after`, { [name]: CANARY })
    expect(all).not.toContain('c4nary')
    expect(sent.report.failures[0]!.message).toBe('before *** after')
    expect(sent.report.log).toEqual(['before', 'before *** after', 'after'])
  })

  it.each(['GIT_AUTHOR_NAME', 'PWD_OF_ALL', 'KEYBOARD', 'BYPASSED'])('is not masked if it is in %s', async (name) => {
    const { sent } = await leaving(`before ${CANARY} ghp_abcdefghijklmn`, { [name]: CANARY })
    expect(sent.report.failures[0]!.message).toBe(`before ${CANARY} ***`)
  })

  it.each([
    ['URL-encoded', encodeURIComponent(CANARY)],
    ['URL-encoded in small letters', encodeURIComponent(CANARY).replace(/%../g, (hex) => hex.toLowerCase())],
    ['as a form', new URLSearchParams({ a: CANARY }).toString()],
    ['in base64', base64(CANARY)],
    ['in base64 after one byte', base64(`a${CANARY}`)],
    ['in base64 after two bytes, for addresses', Buffer.from(`ab${CANARY}`).toString('base64url')],
    ['as HTTP Basic', base64(`user:${CANARY}`)],
    ['cut off', `${CANARY.slice(0, 15)}…`],
    ['without its beginning', `…${CANARY.slice(8)}`],
    ['cut in its middle', `${CANARY.slice(0, 12)}...${CANARY.slice(-10)}`],
    ['with colours within', strewn('#x1B[31m')],
    ['with invisible characters within', strewn('\u200b')],
  ])('does not leave the machine %s', async (_, text) => {
    const { all } = await leaving(`say ${text}`, { DEPLOY_TOKEN: CANARY })
    const bare = all.replace(/\u200b|#x1B\[31m/g, '')
    for (const said of [text, CANARY]) {
      for (let at = 0; at + 10 <= said.length; at += 1) expect(bare).not.toContain(said.slice(at, at + 10))
    }
    expect(bare).not.toContain('c4nary')
  })

  it('does not leave the machine in part if it lies across the 300-character cut', async () => {
    for (const before of [290, 295, 299]) {
      const { all } = await leaving(`${'.'.repeat(before)}${CANARY}`, { DEPLOY_TOKEN: CANARY })
      expect(all).not.toContain('.c')
    }
  })

  it('is masked if it has six characters or more', async () => {
    const { sent } = await leaving('tiny5 and small6', { A_TOKEN: 'tiny5', B_TOKEN: 'small6' })
    expect(sent.report.failures[0]!.message).toBe('tiny5 and ***')
  })

  it('is masked line by line if it has several lines', async () => {
    const key = 'first line of the key\nsecond line of the key\nthird line'
    expect((await leaving(`the second line of the key`, { SIGNING_KEY: key })).all).not.toContain('second line')
  })

  it('is masked if it is so long that it is cut, even between the halves of an emoji', async () => {
    const { all } = await leaving(`before ${CANARY} after`, { BIG_TOKEN: `${CANARY.padEnd(16_383, 'x')}😀 and more` })
    expect(all).not.toContain('c4nary')
  })

  it('is masked like the bot’s secret and the password in any URL', async () => {
    const env = { DATABASE_URL: 'postgres://shop:h4rdly-known@db.example/shop' }
    const { all } = await leaving(`${SECRET} and h4rdly-known`, env)
    expect([all.includes(SECRET), all.includes('h4rdly')]).toEqual([false, false])
  })

  it('is not printed in messages about files or refusals', async () => {
    const folder = folderWith({ [`${SECRET}/canary-1234.xml`]: '<a>', 'good.xml': `<testsuite>${FAILED}</testsuite>` })
    const { stderr, stdout } = await report(folder, {
      args: ['--junit', '**/*.xml', '--log', 'canary-1234.log'],
      env: { A_TOKEN: 'canary-1234' },
      answers: [{ status: 400, json: { reason: 'not canary-1234' } }],
    })
    expect(stderr.split('\n')).toHaveLength(4)
    expect(`${stdout}${stderr}`).not.toMatch(/canary|webhook-secret/)
  })
})

// The tokens are written in parts, so that secret scanners do not take them for real ones.
const join = (...parts: string[]) => parts.join('')

describe('what looks like a secret', () => {
  it.each([
    ['GitHub’s', join('ghp', '_abcdefghijklmnopqrstuvwxyz0123456789')],
    ['GitHub’s, for an app', join('ghs', '_abcdefghijklmnopqrstuvwxyz0123456789')],
    ['GitHub’s new one', join('github', '_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz')],
    ['GitLab’s', join('glpat', '-abcdefghijklmnopqrst')],
    ['Slack’s', join('xoxb', '-123456789012-abcdefghijkl')],
    ['AWS’s', join('AKIA', 'IOSFODNN7EXAMPLE')],
    ['OpenAI’s', join('sk', '-proj-abcdefghijklmnopqrstuvwx')],
    ['Stripe’s', join('sk', '_live_abcdefghijklmnopqrstuvwx')],
    ['a JWT', join('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P')],
    ['a cut JWT', join('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdW')],
    ['a cut token', join('ghp', '_abcdefg')],
  ])('does not leave the machine, plain, encoded or in base64: %s', async (_, token) => {
    for (const text of [token, encodeURIComponent(`a=${token}`), base64(`token ${token}`), base64(`:${token}`)]) {
      const { all } = await leaving([`say ${text}`, `a.${text}`])
      expect(all).not.toContain(text.slice(-8))
      expect(all).not.toContain(token.slice(4, 12))
    }
  })

  it.each([
    ['Authorization: Basic Y2FuYXJ5OmNhbmFyeQ==', 'Authorization:***'],
    ['authorization=Bearer c4nary', 'authorization=***'],
    [`{"Authorization": "Token c4nary", "accept": "x"}`, '{"Authorization":***", "accept": "x"}'],
    [`'{\\"authorization\\":\\"c4nary\\"}'`, `'{\\"authorization\\":***\\"}'`],
    ['sent Bearer c4nary-c4nary', 'sent Bearer ***'],
    ['https://user:c4nary@host.example/a', 'https://***@host.example/a'],
    ['https://c4nary@host.example/a', 'https://***@host.example/a'],
    ['postgres://shop:c4/na:ry@db.example', 'postgres://***@db.example'],
    ['a=https%3A%2F%2Fuser%3Ac4nary%40host', 'a=https%3A%2F%2F***%40host'],
  ])('is hidden in %s', async (text, hidden) => {
    const { all, sent } = await leaving(text)
    expect(sent.report.failures[0]!.message).toBe(hidden)
    expect(all).not.toMatch(/c4nary|Y2FuYXJ5/)
  })

  it('is a private key, whole or in part', async () => {
    for (const text of [PEM, PEM.slice(0, 300), PEM.slice(300)]) {
      const { all, sent } = await leaving(text)
      expect(all).not.toContain('canary')
      expect(sent.report.log.at(-1)).toBe(text.includes('END') ? 'after' : '***')
    }
  })

  it('does not include ordinary URLs, paths, classes and words with dashes', async () => {
    const text =
      'http://host:8080/@scope/a task-with-a-rather-long-name disk_usage_of_everything global-variable com/acme/AuthorizationTest'
    const { sent } = await leaving(`${text}\nBearer abcdefgh`)
    expect(sent.report.log).toContain(text)
  })
})

describe('--log', () => {
  const logOf = async (log: string, args: readonly string[] = ['--log', 'build.log']) => {
    const files = { 'report.xml': `<testsuite>${FAILED}</testsuite>`, 'build.log': log }
    return (await report(folderWith(files), { args: ['--junit', '*.xml', ...args] })).sent!.report.log
  }

  it('is off by default', async () => expect(await logOf('a\nb\n', [])).toEqual([]))

  it('sends the last 20 lines that are not blank, without colours', async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `\u001b[1;31mline ${at}\u001b[0m\r\n\n`).join('')
    expect(await logOf(lines)).toEqual(Array.from({ length: 20 }, (_, at) => `line ${at + 10}`))
  })

  it('cuts each line at 300 characters, and begins with a complete line', async () => {
    const log = await logOf(`${'a'.repeat(300_000)}\n${'b'.repeat(301)}\n${'c'.repeat(300)}\n`)
    expect(log).toEqual([`${'b'.repeat(299)}…`, 'c'.repeat(300)])
  })

  it('sends the report without the log if the file is missing', async () => {
    const { code, stderr, sent } = await report(folderWith({ 'report.xml': `<testsuite>${FAILED}</testsuite>` }), {
      args: ['--junit', '*.xml', '--log', 'nowhere.log'],
    })
    expect([code, sent!.report.log]).toEqual([0, []])
    expect(stderr).toBe('buildline: the log nowhere.log cannot be read; the report goes without it\n')
  })
})
