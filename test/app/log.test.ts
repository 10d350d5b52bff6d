import { describe, expect, it } from 'vitest'
import { createLogger } from '../../src/http/logger.ts'
import { CiError } from '../../src/sources/http/errors.ts'

const SECRET = 'door/of "today" & tomorrow'

/** The log lines of one action, at every level. */
function logged(secrets: readonly string[], tell: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = []
  tell(createLogger('trace', secrets, { write: (line) => lines.push(line) }))
  return lines.join('')
}

describe('the log', () => {
  it('contains no configured secret, neither in messages nor in fields, nested errors, causes and stacks', () => {
    const cause = new Error(`refused ${SECRET}`)
    const output = logged([SECRET], (log) => {
      log.error({ err: new Error(`could not send ${SECRET}`, { cause }), deep: { deeper: [SECRET] } }, `with ${SECRET}`)
      log.info({ [SECRET]: 1 }, encodeURIComponent(SECRET))
    })
    expect(output).toContain('[secret]')
    expect(output).not.toContain('tomorrow')
  })

  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

  it.each([
    ['info', refused, false],
    ['info', new Error('could not be read', { cause: refused }), false],
    ['info', new CiError({ kind: 'not-found', purpose: 'read a project' }), false],
    ['info', new Error('a fault of ours'), true],
    ['debug', refused, true],
  ])('at level %s has a stack for %s, except for errors of others', (level, err, hasStack) => {
    let output = ''
    createLogger(level, [], { write: (line) => (output += line) }).error({ err }, 'no answer')
    expect(output).toContain(err.message)
    expect(output.includes('"stack"')).toBe(hasStack)
  })

  it.each([
    ['a Slack token', 'token xoxb-12345-abcdef in use', 'xoxb-12345-abcdef'],
    ['an app token', 'xapp-1-A0-abcdef', 'xapp-1-A0-abcdef'],
    ['a key in an address', 'GET https://ci.example/api/v1/projects.json?api_key=abc123&page=2', 'abc123'],
    ['a token in an address', 'POST /webhooks/builds?token=abc123', 'abc123'],
    ['a webhook secret in an address', 'POST /webhooks/builds/abc123 HTTP/1.1', 'abc123'],
    ['a report secret in an address', 'POST /webhooks/reports/abc123 HTTP/1.1', 'abc123'],
    ['the same of GitHub', 'POST /webhooks/github/reports/abc123 HTTP/1.1', 'abc123'],
    ['a bearer token', 'authorization: Bearer abc123def456', 'abc123def456'],
    ['a password in an address', 'postgres://ada:abc123@db:5432/builds', 'abc123'],
  ])('contains nothing that looks like %s, configured or not', (_, text, secret) => {
    expect(logged([], (log) => log.warn({ text }, text))).not.toContain(secret)
  })

  it('keeps everything else', () => {
    const output = logged([SECRET], (log) =>
      log.info({ project: '11', url: 'https://ci.example/builds/512?page=2' }, 'delivery'),
    )
    expect(JSON.parse(output)).toMatchObject({
      project: '11',
      url: 'https://ci.example/builds/512?page=2',
      msg: 'delivery',
    })
  })

  it('does not mask ordinary words because of a secret of two letters', () => {
    expect(logged(['ok'], (log) => log.info({}, 'all is ok'))).toContain('all is ok')
  })
})
