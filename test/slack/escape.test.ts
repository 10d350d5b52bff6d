import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeSpan, escapeMrkdwn, escapePlain, firstLine, httpUrl, mrkdwnLink, toLine } from '../../src/lib/escape.ts'

/** As the eye sees it: entities read, invisible characters unseen. */
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

  test.each(TYPED)('leaves nothing in %s that Slack would act on', (text) => {
    // A mark acts at the edge of a word: what stands beside each one is no edge.
    expect(escapeMrkdwn(text)).not.toMatch(/<|>|&(?!amp;|lt;|gt;)|`|^[*_~]|[\s*_~][*_~]\S|:[a-z]|:\/\/|^&gt;/)
  })

  test.each(['acme/my_project', 'Ada: fix login', '2 - 1', 'añejo', '山田 太郎'])('leaves %s alone', (text) => {
    expect(escapeMrkdwn(text)).toBe(text)
  })

  test('keeps two fields side by side from making an emoji together', () => {
    expect(`${escapeMrkdwn('Ada :x')}: ${escapeMrkdwn('fix')}`).not.toContain(':x:')
  })

  test('isolates what runs from right to left, and nothing else', () => {
    expect(escapeMrkdwn('שלום')).toBe('\u2068שלום\u2069')
    expect(escapeMrkdwn('hello')).toBe('hello')
  })
})

describe('toLine', () => {
  test.each([
    ['line breaks become a blank', 'a\r\n\n b\u2028c', 'a b c'],
    ['controls are shown as missing', 'a\u0000b\u001bc', 'a\ufffdb\ufffdc'],
    ['what turns the direction is shown as missing', 'exe.\u202egpj\u2066', 'exe.\ufffdgpj\ufffd'],
    ['half a pair is shown as missing', 'a\ud83d', 'a\ufffd'],
    ['invisible fillers go', 'a\u200bb\u00adc\ufeff', 'abc'],
    ['joiners of scripts and emoji stay', 'می\u200cخواهم 👩\u200d💻', 'می\u200cخواهم 👩\u200d💻'],
  ])('%s', (_, text, expected) => {
    expect(toLine(text)).toBe(expected)
  })

  test('applied twice it changes nothing more', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => toLine(toLine(text)) === toLine(text)))
  })
})

test('the first line is the first that says something', () => {
  expect(firstLine('\n \r\n  fix login \nmore')).toBe('fix login')
  expect(firstLine(' \n ')).toBe('')
})

describe('codeSpan', () => {
  test('cannot be left from within', () => {
    expect(codeSpan('a` <!here> *b*')).toBe('`a\u02cb &lt;!here&gt; *b*`')
  })

  test('is nothing for nothing', () => {
    expect(codeSpan(' \n')).toBe('')
  })
})

test('plain text shows a typed entity as typed, and is otherwise left alone', () => {
  expect(escapePlain('&amp; & <b> *x*')).toBe('&\u00adamp; & <b> *x*')
})

describe('links', () => {
  test.each([
    ['https://ci.example/b/1', 'https://ci.example/b/1'],
    [' http://ci.example ', 'http://ci.example/'],
    ['https://ci.example/a b|c>d<e', 'https://ci.example/a%20b%7Cc%3Ed%3Ce'],
    ['https://ada:secret@ci.example/', 'https://ci.example/'],
    ['https://ci.example/#a|b>', 'https://ci.example/#a%7Cb%3E'],
  ])('%s is safe as %s', (text, expected) => {
    expect(httpUrl(text, 200)).toBe(expected)
  })

  test.each(['javascript:alert(1)', 'ftp://ci.example', 'ci.example', '', 'slack://open', 'https://', null])(
    '%s is no link',
    (text) => {
      expect(httpUrl(text, 200)).toBeNull()
      expect(mrkdwnLink(text, '#1', 200)).toBe('#1')
    },
  )

  test('a link is whole or not there: at the limit it stands, one over it goes', () => {
    const url = 'https://ci.example/aaaa'
    expect(httpUrl(url, url.length)).toBe(url)
    expect(httpUrl(url, url.length - 1)).toBeNull()
  })

  test('escaping counts towards the limit of a link in markup', () => {
    const url = 'https://ci.example/?a&b'
    expect(mrkdwnLink(url, '#1', url.length + 4)).toBe('<https://ci.example/?a&amp;b|#1>')
    expect(mrkdwnLink(url, '#1', url.length + 3)).toBe('#1')
  })
})
