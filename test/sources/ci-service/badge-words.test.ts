import { describe, expect, test } from 'vitest'
import {
  BADGE_BYTES_MAX,
  BADGE_TEXTS_MAX,
  BADGE_WORDS_CHARS_MAX,
  badgeWords,
} from '../../../src/sources/ci-service/badge.ts'

const svg = (inner: string) => `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`
const texts = (...all: string[]) => svg(all.map((text) => `<text x="1">${text}</text>`).join(''))

describe('a badge says', () => {
  test.each([
    ['its texts', texts('build', 'passing'), 'build passing'],
    ['a text once, with its shadow', texts('build', 'build', 'passing', 'passing'), 'build passing'],
    ['its title instead of the same words', svg('<title>build: passing</title><text>build</text>'), 'build: passing'],
    [
      'a title that comes last',
      svg('<text>build</text><text>passing</text><title>Build: passing</title>'),
      'Build: passing',
    ],
    ['a text that is only part of another word', texts('rebuilding', 'build'), 'rebuilding build'],
    ['signs that are no words', texts('✓', '★'), '✓ ★'],
    ['words in any script', texts('сборка', 'прошла'), 'сборка прошла'],
    ['texts in parts', svg('<text><tspan>machine</tspan><tspan x="9">error</tspan></text>'), 'machine error'],
    ['texts in one line', texts('\n  machine\n\terror  '), 'machine error'],
    ['texts of a namespace', '<svg:svg><svg:text>passing</svg:text></svg:svg>', 'passing'],
    ['no text beside its texts', svg('<text/>stray<text>passing</text>stray'), 'passing'],
    ['character data', texts('<![CDATA[a < b]]>'), 'a < b'],
    ['what follows a > in an attribute', svg('<text aria-label="a > b" title=\'c>d\'>passing</text>'), 'passing'],
  ])('%s', (_what, image, words) => {
    expect(badgeWords(image)).toBe(words)
  })
})

describe('a badge does not say', () => {
  test.each([
    ['nothing', ''],
    ['no markup', 'passing'],
    ['no texts', svg('<rect width="3"/><desc>passing</desc><textPath>passing</textPath>')],
    ['empty texts', svg('<text/><text> \n </text><title></title>')],
    ['what is commented out', svg('<!-- > <text>passing</text> -->')],
    ['what is in an attribute', svg('<rect x="<text>passing</text>"/>')],
    ['character data outside', svg('<style><![CDATA[<text>passing</text>]]></style>')],
    ['a text without an end', '<svg><text>passing'],
    ['a page', '<html><body><p>Sign in</p></body></html>'],
  ])('%s', (_what, image) => {
    expect(badgeWords(image)).toBeNull()
  })
})

test('no entity is expanded: neither one of its own nor any other', () => {
  const bomb = `<!DOCTYPE svg [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`
  expect(badgeWords(`${bomb}<svg><text>&b;</text><text>&f; &lt;</text></svg>`)).toBe('&b; &f; &lt;')
})

test('words are cut visibly beyond the limit, by code points, and whole at just the limit', () => {
  const whole = '🐢'.repeat(BADGE_WORDS_CHARS_MAX)
  expect(badgeWords(texts(whole))).toBe(whole)
  expect(badgeWords(texts(`${whole}🐢`))).toBe(`${'🐢'.repeat(BADGE_WORDS_CHARS_MAX - 1)}…`)
})

test('so many texts are looked at, and not one more', () => {
  const many = Array.from({ length: BADGE_TEXTS_MAX + 1 }, (_, at) => String.fromCodePoint(97 + at))
  expect(badgeWords(texts(...many))).toBe(many.slice(0, BADGE_TEXTS_MAX).join(' '))
})

describe('the largest badge is read at once, however hostile', () => {
  const fill = (unit: string) => unit.repeat(Math.floor(BADGE_BYTES_MAX / unit.length))
  const time = (image: string) => {
    const before = performance.now()
    badgeWords(image)
    return performance.now() - before
  }

  test.each([
    '<',
    '<text',
    '<text>',
    '<text>a</text>',
    '<!--',
    '<![CDATA[',
    '<?',
    '<a "',
    '&a;',
    '"',
    ' ',
    'a:',
    '</text ',
  ])('full of %s', (unit) => {
    expect(time(fill(unit))).toBeLessThan(1_000)
    expect(time(`<svg><text>${fill(unit)}`)).toBeLessThan(1_000)
    expect(time(`<svg><text>${fill(unit)}</text></svg>`)).toBeLessThan(1_000)
  })
})
