import { describe, expect, test } from 'vitest'
import {
  BADGE_BYTES_MAX,
  BADGE_TEXTS_MAX,
  BADGE_WORDS_CHARS_MAX,
  badgeWords,
} from '../../../src/sources/ci-service/badge.ts'

const svg = (inner: string) => `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`
const texts = (...all: string[]) => svg(all.map((text) => `<text x="1">${text}</text>`).join(''))

describe('badgeWords', () => {
  test.each([
    ['joins the texts', texts('build', 'passing'), 'build passing'],
    ['takes a text once if a shadow repeats it', texts('build', 'build', 'passing', 'passing'), 'build passing'],
    ['prefers a title with the same words', svg('<title>build: passing</title><text>build</text>'), 'build: passing'],
    [
      'prefers such a title even if it comes last',
      svg('<text>build</text><text>passing</text><title>Build: passing</title>'),
      'Build: passing',
    ],
    ['keeps a text that is only part of another word', texts('rebuilding', 'build'), 'rebuilding build'],
    ['keeps signs that are not words', texts('✓', '★'), '✓ ★'],
    ['keeps words in any script', texts('сборка', 'прошла'), 'сборка прошла'],
    ['joins parts of a text', svg('<text><tspan>machine</tspan><tspan x="9">error</tspan></text>'), 'machine error'],
    ['puts a text on one line', texts('\n  machine\n\terror  '), 'machine error'],
    ['reads texts with a namespace prefix', '<svg:svg><svg:text>passing</svg:text></svg:svg>', 'passing'],
    ['ignores text outside the text elements', svg('<text/>stray<text>passing</text>stray'), 'passing'],
    ['is not confused by a > in an attribute', svg('<text aria-label="a > b" title=\'c>d\'>passing</text>'), 'passing'],
  ])('%s', (_what, image, words) => {
    expect(badgeWords(image)).toBe(words)
  })
})

describe('badgeWords finds no words in', () => {
  test.each([
    ['an empty text', ''],
    ['no markup', 'passing'],
    ['an image without texts', svg('<rect width="3"/><desc>passing</desc><textPath>passing</textPath>')],
    ['an image with only empty texts', svg('<text/><text> \n </text><title></title>')],
    ['an HTML page', '<html><body><p>Sign in</p></body></html>'],
  ])('%s', (_what, image) => {
    expect(badgeWords(image)).toBeNull()
  })
})

test('badgeWords expands no entity, neither one of the badge nor any other', () => {
  const bomb = `<!DOCTYPE svg [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`
  expect(badgeWords(`${bomb}<svg><text>&b;</text><text>&f; &lt;</text></svg>`)).toBe('&b; &f; &lt;')
})

test('badgeWords visibly cuts words beyond the limit, counted in code points, and keeps words at the limit', () => {
  const whole = '🐢'.repeat(BADGE_WORDS_CHARS_MAX)
  expect(badgeWords(texts(whole))).toBe(whole)
  expect(badgeWords(texts(`${whole}🐢`))).toBe(`${'🐢'.repeat(BADGE_WORDS_CHARS_MAX - 1)}…`)
})

test('badgeWords reads a limited number of texts, and not one more', () => {
  const many = Array.from({ length: BADGE_TEXTS_MAX + 1 }, (_, at) => String.fromCodePoint(97 + at))
  expect(badgeWords(texts(...many))).toBe(many.slice(0, BADGE_TEXTS_MAX).join(' '))
})

describe('badgeWords reads even the worst badge of the largest size at once', () => {
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
    '<text "',
    '<text "a" ',
    '<a:',
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
