import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeSpan, escapeMrkdwn, escapePlain, firstLine, httpUrl, mrkdwnLink, toLine } from '../../src/lib/escape.ts'
import { anyText } from '../support/any-text.ts'

/** The text as a reader sees it: entities are decoded, and invisible characters are left out. */
const seen = (markup: string): string =>
  markup
    .replace(/[\u00ad\u2068\u2069]/gu, '')
    .replaceAll('\u02cb', '`')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

describe('escapeMrkdwn', () => {
  const TYPED = [
    '<!channel>',
    '<@U1>',
    '<https://evil.example|ok>',
    '*x*',
    '_x_',
    '~x~',
    '`x`',
    '```x```',
    ':tada:',
    '&amp;',
    '> quote',
    'https://evil.example',
  ]

  test.each(TYPED)('shows %s as it was typed', (text) => {
    expect(seen(escapeMrkdwn(text))).toBe(text)
  })

  test.each(TYPED)('leaves nothing in %s that Slack would interpret', (text) => {
    // A mark only works at the edge of a word, so the characters beside each mark must not be an edge.
    expect(escapeMrkdwn(text)).not.toMatch(/<|>|&(?!amp;|lt;|gt;)|`|^[*_~]|[\s*_~][*_~]\S|:[a-z]|:\/\/|^&gt;/)
  })

  test.each(['acme/my_project', 'Ada: fix login', '2 - 1', 'añejo', '山田 太郎'])('leaves %s unchanged', (text) => {
    expect(escapeMrkdwn(text)).toBe(text)
  })

  test('stops two adjacent fields from forming an emoji', () => {
    expect(`${escapeMrkdwn('Ada :x')}: ${escapeMrkdwn('fix')}`).not.toContain(':x:')
  })

  test('isolates right-to-left text, and no other text', () => {
    expect(escapeMrkdwn('שלום')).toBe('\u2068שלום\u2069')
    expect(escapeMrkdwn('hello')).toBe('hello')
  })
})

describe('toLine', () => {
  test.each([
    ['turns line breaks into a space', 'a\r\n\n b\u2028c', 'a b c'],
    ['shows control characters as missing characters', 'a\u0000b\u001bc', 'a\ufffdb\ufffdc'],
    ['shows direction marks as missing characters', 'exe.\u202egpj\u2066', 'exe.\ufffdgpj\ufffd'],
    ['shows half a surrogate pair as a missing character', 'a\ud83d', 'a\ufffd'],
    ['removes invisible fillers', 'a\u200bb\u00adc\ufeff', 'abc'],
    ['keeps the joiners that scripts and emoji need', 'می\u200cخواهم 👩\u200d💻', 'می\u200cخواهم 👩\u200d💻'],
  ])('%s', (_, text, expected) => {
    expect(toLine(text)).toBe(expected)
  })

  test('changes nothing when it is applied a second time', () => {
    fc.assert(fc.property(anyText(), (text) => toLine(toLine(text)) === toLine(text)))
  })
})

test('takes the first line that contains text', () => {
  expect(firstLine('\n \r\n  fix login \nmore')).toBe('fix login')
  expect(firstLine(' \n ')).toBe('')
})

describe('codeSpan', () => {
  test('cannot be closed by the text inside it', () => {
    expect(codeSpan('a` <!here> *b*')).toBe('`a\u02cb &lt;!here&gt; *b*`')
  })

  test('is empty for an empty text', () => {
    expect(codeSpan(' \n')).toBe('')
  })
})

test('shows a typed entity in plain text as it was typed, and leaves the rest unchanged', () => {
  expect(escapePlain('&amp; & <b> *x*')).toBe('&\u00adamp; & <b> *x*')
})

describe('a link', () => {
  test.each([
    ['https://ci.example/b/1', 'https://ci.example/b/1'],
    [' http://ci.example ', 'http://ci.example/'],
    ['\n  https://ci.example/b/1\t\n', 'https://ci.example/b/1'],
    ['https://ci.example/a%20b|c>d<e', 'https://ci.example/a%20b%7Cc%3Ed%3Ce'],
    ['https://ada:secret@ci.example/', 'https://ci.example/'],
    ['https://ci.example/#a|b>', 'https://ci.example/#a%7Cb%3E'],
  ])('from %s becomes the safe address %s', (text, expected) => {
    expect(httpUrl(text, 200)).toBe(expected)
  })

  test.each(['javascript:alert(1)', 'ftp://ci.example', 'ci.example', '', 'slack://open', 'https://', null])(
    'is not made of %s',
    (text) => {
      expect(httpUrl(text, 200)).toBeNull()
      expect(mrkdwnLink(text, '#1', 200)).toBe('#1')
    },
  )

  test.each(['\n', '\r\n    ', '\t', ' ', '\u00a0', '\u2028', '\0', '\u001b', '\u0085'])(
    'is not made of an address that has %j in it: it would lead nowhere',
    (blank) => {
      const text = `https://ci.example/acme/web${blank}builds/1`
      expect(httpUrl(text, 200)).toBeNull()
      expect(mrkdwnLink(text, '#1', 200)).toBe('#1')
    },
  )

  test('is either complete or left out: it is kept at the limit, and dropped one character beyond it', () => {
    const url = 'https://ci.example/aaaa'
    expect(httpUrl(url, url.length)).toBe(url)
    expect(httpUrl(url, url.length - 1)).toBeNull()
  })

  test('in markup counts its escaped length towards the limit', () => {
    const url = 'https://ci.example/?a&b'
    expect(mrkdwnLink(url, '#1', url.length + 4)).toBe('<https://ci.example/?a&amp;b|#1>')
    expect(mrkdwnLink(url, '#1', url.length + 3)).toBe('#1')
  })
})
