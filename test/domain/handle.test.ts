import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claimable, HANDLE_CHARS_MAX, normalHandle, authorOf } from '../../src/domain/handle.ts'

const verdict = (text: string): string => {
  const one = claimable(text)
  return one.kind === 'ok' ? one.handle : one.why
}

describe('a handle that can be claimed', () => {
  it.each<[text: string, handle: string]>([
    ['ada', 'ada'],
    ['  Ada ', 'ada'],
    ['Ada Lovelace', 'ada lovelace'],
    ['Ada@Acme.Example', 'ada@acme.example'],
    ['ada+builds@acme.example', 'ada+builds@acme.example'],
    ['ada-l', 'ada-l'],
    ['abbot', 'abbot'],
    ['Talbot', 'talbot'],
    ['ci-bot', 'ci-bot'],
    ['robot@acme.example', 'robot@acme.example'],
    ['reply', 'reply'],
    ['ada-noreply', 'ada-noreply'],
    ['noreplya@acme.example', 'noreplya@acme.example'],
    ['[bot] ada', '[bot] ada'],
    ['李', '李'],
    ['Ада', 'ада'],
    ['42', '42'],
    ['ada <ada@acme.example>', 'ada <ada@acme.example>'],
  ])('%j: %j', (text, handle) => {
    expect(claimable(text)).toEqual({ kind: 'ok', handle })
  })
})

describe('a handle that cannot be claimed', () => {
  it.each<[text: string, why: string]>([
    ['', 'empty'],
    [' \t\n', 'empty'],
    ['dependabot[bot]', 'bot'],
    ['Renovate[BOT]', 'bot'],
    ['12+dependabot[bot]@users.noreply.host.example', 'bot'],
    ['bot', 'bot'],
    ['bot@acme.example', 'bot'],
    ['noreply', 'no-reply'],
    ['no-reply', 'no-reply'],
    ['noreply@acme.example', 'no-reply'],
    ['No-Reply@acme.example', 'no-reply'],
    ['no_reply+builds@acme.example', 'no-reply'],
    ['do-not-reply@acme.example', 'no-reply'],
    ['donotreply@acme.example', 'no-reply'],
    ['12+ada@users.noreply.host.example', 'no-reply'],
    ['ada@noreply.acme.example', 'no-reply'],
    ['ada\nlin', 'not-a-handle'],
    ['ada\0', 'not-a-handle'],
    ['ada\u202Eadl', 'not-a-handle'],
    ['ad\u200Ba', 'not-a-handle'],
    ['ada\uD800', 'not-a-handle'],
    ['<@U0ADA00001>', 'not-a-handle'],
    ['<mailto:ada@acme.example|ada@acme.example>', 'not-a-handle'],
    ['---', 'not-a-handle'],
    ['@', 'not-a-handle'],
  ])('%j: %s', (text, why) => {
    expect(claimable(text)).toEqual({ kind: 'no', why })
  })

  it('has more than HANDLE_CHARS_MAX characters, counted as people see them', () => {
    const most = 'a'.repeat(HANDLE_CHARS_MAX)
    expect([verdict(most), verdict(`${most}a`)]).toEqual([most, 'too-long'])
    const letters = '𐓘'.repeat(HANDLE_CHARS_MAX)
    expect([verdict(letters), verdict(`${letters}𐓘`)]).toEqual([letters, 'too-long'])
    expect(verdict(`  ${most}  `)).toBe(most)
  })
})

describe('the normal form of a handle', () => {
  const anyText = fc.string({
    unit: fc.constantFrom(...Array.from('AdaİΣς𐓘@[]bot.-+noreply \t<>\u200b\0')),
    maxLength: 20,
  })

  it('has itself as its normal form, can be looked up, and is as claimable as the original', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const handle = normalHandle(text)
        expect(normalHandle(handle)).toBe(handle)
        expect(handle.toLowerCase()).toBe(handle)
        expect(claimable(handle)).toEqual(claimable(text))
      }),
    )
  })

  it('is the same for all spellings of one handle, and differs between handles', () => {
    expect(new Set([' ADA', 'ada', 'Ada '].map(normalHandle))).toEqual(new Set(['ada']))
    expect(normalHandle('ada@acme.example')).not.toBe(normalHandle('ada'))
  })
})

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
