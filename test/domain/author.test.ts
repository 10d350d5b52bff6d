import { describe, expect, it } from 'vitest'
import { authorOf } from '../../src/domain/author.ts'

const of = (email: string | null, login: string | null = null, name: string | null = 'Ada') =>
  authorOf({ name, email, login })

describe('the author of a commit', () => {
  it.each(['ada@acme.example', ' Ada@ACME.example '])('can be found by an address: %j', (email) => {
    expect(of(email)).toEqual({ email: 'ada@acme.example', login: null })
  })

  it('can be found by a login, with or without an address', () => {
    expect(of(null, 'Octocat')).toEqual({ email: null, login: 'octocat' })
    expect(of('noreply@acme.example', 'octocat')).toEqual({ email: null, login: 'octocat' })
    expect(of('ada@acme.example', 'octocat')).toEqual({ email: 'ada@acme.example', login: 'octocat' })
  })

  it.each([
    '1234+octocat@users.noreply.github.com',
    '1234-octocat@users.noreply.gitlab.com',
    'noreply@acme.example',
    'no-reply@acme.example',
    'no-reply+builds@acme.example',
    'bot@acme.example',
    'ada',
    'ada@localhost',
    'ada lovelace@acme.example',
    '<ada@acme.example>',
    `${'a'.repeat(100)}@acme.example`,
    '',
    null,
  ])('is not found by %j', (email) => {
    expect(of(email)).toBeNull()
  })

  it.each<[name: string, email: string | null, login: string | null]>([
    ['dependabot[bot]', 'support@acme.example', null],
    ['Dependabot', 'support@acme.example', null],
    ['updates', 'support@dependabot.example', null],
    ['updates', '1234+helper[bot]@users.noreply.github.com', 'octocat'],
    ['updates', 'support@acme.example', 'helper[bot]'],
  ])('is nobody if it is a bot: %s, %s, %s', (name, email, login) => {
    expect(of(email, login, name)).toBeNull()
  })

  it("may have a name that looks almost like a bot's", () => {
    expect(of('abbot@acme.example', 'ci-bot', 'Abbot')).toEqual({ email: 'abbot@acme.example', login: 'ci-bot' })
  })
})
