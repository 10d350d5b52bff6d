import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JSON_DEPTH_MAX, parseBody } from '../../src/lib/json.ts'
import { anyText } from '../support/any-text.ts'

const NAMES = ['id', 'a"b', '{"id":12345678901234567}', '', 'constructor', '日本', '__proto__', '12345678901234567']

/** The same text, with some characters as escapes. */
const escaped = (text: string) =>
  fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map((isEscaped) => {
    const units = text.split('').map((unit, i) => {
      if (isEscaped[i]) return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
      return JSON.stringify(unit).slice(1, -1)
    })
    return `"${units.join('')}"`
  })

const blank = fc.constantFrom('', '', '', ' ', '\n', '\t ', '\r\n')
const texts = fc
  .oneof(
    anyText({ maxLength: 12 }),
    fc.constantFrom('12345678901234567', '":[{},', '\\"', '{"id":12345678901234567}', '\u2028', '\ud800', '/'),
  )
  .chain(escaped)
const numbers = fc.oneof(
  fc.integer().map(String),
  fc.stringMatching(/^-?[1-9]\d{14,24}$/),
  fc.stringMatching(/^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/),
  fc.constantFrom('-0', '9007199254740991', '9007199254740992', '-9007199254740993', '1e400', '9007199254740993.0'),
)
const words = fc.constantFrom('true', 'false', 'null')

/** Any JSON text, written in any way. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    texts,
    numbers,
    words,
    fc
      .array(fc.tuple(blank, tie('json'), blank), { maxLength: 5 })
      .map((all) => `[${all.map((one) => one.join('')).join(',')}]`),
    fc
      .array(fc.tuple(blank, fc.constantFrom(...NAMES).chain(escaped), blank, blank, tie('json'), blank), {
        maxLength: 6,
      })
      .map((all) => `{${all.map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`).join(',')}}`),
  ),
}))

/** What `JSON.parse` reads, with each whole number beyond 2^53 as its digits. */
const whole = (text: string): unknown =>
  JSON.parse(text, (_name, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? context!.source
      : value,
  )

/** What is read of it; 'refused' for a text that is not JSON. */
function outcomeOf(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) }
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError)
    return 'refused'
  }
}

describe('a body', () => {
  test('is read as JSON.parse reads it, with the digits of long whole numbers', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(parseBody(text)).toEqual(whole(text))
      }),
      { numRuns: 2_000 },
    )
  })

  test('is refused wherever JSON.parse refuses it', () => {
    const changed = fc
      .tuple(
        json,
        fc.nat(),
        fc.constantFrom(
          '',
          ',',
          '"',
          '\\',
          '{',
          '}',
          ']',
          ':',
          '0',
          '.',
          'e',
          '-',
          'u',
          '\n',
          '\0',
          '12345678901234567',
        ),
        fc.nat(2),
      )
      .map(([text, at, put, gone]) => {
        const from = at % (text.length + 1)
        return text.slice(0, from) + put + text.slice(from + gone)
      })
    fc.assert(
      fc.property(changed, (text) => {
        expect(outcomeOf(parseBody, text)).toEqual(outcomeOf(whole, text))
      }),
      { numRuns: 5_000 },
    )
  })

  test.each(['{12345678901234567:1}', '[012345678901234567]', '[--12345678901234567]', '[12345678901234567 "]'])(
    'that is not JSON does not become JSON by the quotes around a long number: %s',
    (text) => {
      expect(outcomeOf(parseBody, text)).toBe('refused')
    },
  )

  test('keeps the last of two fields with one name', () => {
    expect(parseBody('{"a":12345678901234567,"a":{"b":1},"\\u0061":2}')).toEqual({ a: 2 })
  })

  test('never gives an object a prototype that was sent', () => {
    expect(Object.getPrototypeOf(parseBody('{"__proto__":{"id":12345678901234567}}'))).toBe(Object.prototype)
  })

  test.each(['[', '{"a":'])('is refused beyond the depth limit, and read at it: %s', (open) => {
    const nested = (depth: number) => `${open.repeat(depth)}1${(open === '[' ? ']' : '}').repeat(depth)}`
    expect(parseBody(nested(JSON_DEPTH_MAX))).toEqual(JSON.parse(nested(JSON_DEPTH_MAX)))
    expect(() => parseBody(nested(JSON_DEPTH_MAX + 1))).toThrow('nested too deep')
    expect(() => parseBody(open.repeat(100_000))).toThrow('nested too deep')
    expect(parseBody(`["\\"${'['.repeat(100)}"]`)).toEqual([`"${'['.repeat(100)}`])
  })

  test('is refused in words that quote nothing of the text', () => {
    expect(() => parseBody('{"secret":"canary" 1}')).toThrow(/^the text is not JSON$/)
  })
})
