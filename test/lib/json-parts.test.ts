import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fields, isJsonObject, items, readJson, VALUE, values, type Part } from '../../src/lib/json-parts.ts'
import { JSON_DEPTH_MAX } from '../../src/lib/json-scan.ts'
import { isRecord } from '../../src/lib/json.ts'

const read = (text: string, part: Part) => readJson(Buffer.from(text), part)

// Names that are read, and others like them. None has a backslash: JSON.parse takes an escaped name for one that it has
// parsed before, if that is a backslash (Node 26.10).
const NAMES = ['id', 'ids', 'name', 'é', 'a"b', 'id,', '{"id":1}', '', 'constructor']
const OTHERS = ['x', 'i', 'Id', '日本', ']', 'n ame', '__proto__']

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
    fc.string({ unit: 'binary', maxLength: 12 }),
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
      .array(fc.tuple(blank, fc.constantFrom(...NAMES, ...OTHERS).chain(escaped), blank, blank, tie('json'), blank), {
        maxLength: 6,
      })
      .map((all) => `{${all.map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`).join(',')}}`),
  ),
}))

const { part } = fc.letrec<{ part: Part }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constant(VALUE),
    fc.tuple(tie('part'), fc.nat(4)).map(([one, most]) => items(one, most)),
    fc.dictionary(fc.constantFrom(...NAMES), tie('part'), { maxKeys: 5, noNullPrototype: true }).map(fields),
  ),
}))

/** What `JSON.parse` reads, with each whole number beyond 2^53 as its digits. */
const whole = (text: string): unknown =>
  JSON.parse(text, (_name, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? context!.source
      : value,
  )

/** Only this part of it. */
function only(value: unknown, wanted: Part): unknown {
  if (Array.isArray(value))
    return wanted.kind === 'items' ? value.slice(0, wanted.most).map((item) => only(item, wanted.part)) : []
  if (!isRecord(value)) return value
  if (wanted.kind !== 'fields') return {}
  const known = wanted.names.filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(known.map((name) => [name, only(value[name], wanted.parts[wanted.names.indexOf(name)]!)]))
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const isRead = (text: string, wanted: Part): boolean => {
  try {
    read(text, wanted)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError)
    return false
  }
}

describe('a part of a JSON text', () => {
  test('is read as JSON.parse reads it, with the digits of long whole numbers, whatever else is in the text', () => {
    fc.assert(
      fc.property(json, part, (text, wanted) => {
        expect(read(text, wanted)).toEqual(only(whole(text), wanted))
      }),
      { numRuns: 2_000 },
    )
  })

  test('is refused wherever JSON.parse refuses the whole text, also behind the part', () => {
    const changed = fc
      .tuple(
        json,
        fc.nat(),
        fc.constantFrom('', ',', '"', '\\', '{', '}', ']', ':', '0', '.', 'e', '-', 'u', '\n', '\0'),
        fc.nat(2),
      )
      .map(([text, at, put, gone]) => {
        const from = at % (text.length + 1)
        return text.slice(0, from) + put + text.slice(from + gone)
      })
    fc.assert(
      fc.property(changed, part, (text, wanted) => {
        const sent = text.toWellFormed()
        expect(isRead(sent, wanted)).toBe(isJson(sent))
        expect(isJsonObject(Buffer.from(sent))).toBe(isJson(sent) && isRecord(JSON.parse(sent)))
      }),
      { numRuns: 5_000 },
    )
  })

  test('that is repeated is read as it stands last', () => {
    expect(read('{"a":{"b":1,"c":2},"a":{"c":3},"\\u0061":{"b":4}}', fields({ a: values(['b', 'c']) }))).toEqual({
      a: { b: 4 },
    })
    expect(read('{"a":[1],"a":2}', fields({ a: items(VALUE) }))).toEqual({ a: 2 })
  })

  test('never gives an object a prototype that was sent', () => {
    const sent = '{"__proto__":{"id":1},"constructor":{"id":2}}'
    const got = read(sent, values(['id', 'constructor']))
    expect(got).toEqual({ constructor: {} })
    expect(Object.getPrototypeOf(got)).toBe(Object.prototype)
  })

  test.each(['[', '{"a":'])('is refused beyond the depth limit, and read at it: %s', (open) => {
    const nested = (depth: number) => `${open.repeat(depth)}1${(open === '[' ? ']' : '}').repeat(depth)}`
    for (const wanted of [VALUE, fields({}), items(VALUE), fields({ a: fields({ a: VALUE }) })]) {
      expect(isRead(nested(JSON_DEPTH_MAX), wanted)).toBe(true)
      expect(() => read(nested(JSON_DEPTH_MAX + 1), wanted)).toThrow('nested too deep')
    }
    expect(() => read(open.repeat(100_000), VALUE)).toThrow('nested too deep')
  })

  test('is refused in words that quote nothing of the text', () => {
    expect(() => read('{"secret":"canary" 1}', VALUE)).toThrow(/^the text is not JSON$/)
  })
})
