import {
  byteAt,
  checkJson,
  COMMA,
  endOfBlanks,
  endOfColon,
  endOfItems,
  endOfName,
  endOfValue,
  isAt,
  isPlain,
  JSON_DEPTH_MAX,
  notJson,
  OPEN_LIST,
  OPEN_OBJECT,
  TO_CLOSE,
  tooDeep,
} from './json-scan.ts'

// Reads parts of a JSON text in one pass, and builds nothing of the rest. Few fields of a body are used, and
// `JSON.parse` needs up to 300 ms for the objects in two megabytes. No library both skips them and refuses what is not
// JSON.

/** What is read of a JSON text: a single value, some fields of an object, or the first items of a list. */
export type Part = typeof VALUE | Fields | Items

/** A text, a number, true, false or null. An object or a list in its place is read as an empty one. */
export const VALUE = { kind: 'value' } as const

interface Fields {
  kind: 'fields'
  names: readonly string[]
  /** the names in UTF-8 */
  encoded: readonly Uint8Array[]
  parts: readonly Part[]
}

interface Items {
  kind: 'items'
  part: Part
  most: number
}

/** An object, of which these fields are read. */
export const fields = (parts: Readonly<Record<string, Part>>): Part => ({
  kind: 'fields',
  names: Object.keys(parts),
  encoded: Object.keys(parts).map((name) => Buffer.from(name)),
  parts: Object.values(parts),
})

/** An object, of which these single values are read. */
export const values = (names: readonly string[]): Part => fields(Object.fromEntries(names.map((name) => [name, VALUE])))

/** A list, of which the first `most` items are read. */
export const items = (part: Part, most = Number.POSITIVE_INFINITY): Part => ({ kind: 'items', part, most })

/**
 * Reads a part of a JSON text. The result is that of `JSON.parse`, except that everything else is left out, and whole
 * numbers beyond 2^53 are digit strings, so that no id is rounded. Throws a SyntaxError without any of the text: not
 * JSON, or nested deeper than `JSON_DEPTH_MAX`.
 * @param bytes valid UTF-8, without a byte order mark
 */
export function readJson(bytes: Uint8Array, part: Part): unknown {
  const reader = new Reader(bytes)
  return reader.build(reader.whole(part))
}

/** Whether this is JSON, and an object. */
export function isJsonObject(bytes: Uint8Array): boolean {
  try {
    checkJson(bytes)
    return byteAt(bytes, endOfBlanks(bytes, 0)) === OPEN_OBJECT
  } catch {
    return false
  }
}

/** Where a single value begins and ends. */
class Span {
  readonly from: number
  readonly to: number
  constructor(from: number, to: number) {
    this.from = from
    this.to = to
  }
}

/** What is read, by its place. It is built last, because a field that is repeated replaces the one before. */
type Found = Span | Found[] | FoundFields
interface FoundFields {
  [name: string]: Found
}

/** Each method reads what begins at `#at`, and moves behind it. */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, length)
  }

  whole(part: Part): Found {
    this.#at = endOfBlanks(this.#bytes, 0)
    const found = this.#value(part, 0)
    if (endOfBlanks(this.#bytes, this.#at) < this.#bytes.length) throw notJson()
    return found
  }

  build(found: Found): unknown {
    if (found instanceof Span) return this.#single(found)
    if (Array.isArray(found)) return found.map((item) => this.build(item))
    const built: Record<string, unknown> = {}
    for (const name of Object.keys(found)) built[name] = this.build(found[name]!)
    return built
  }

  #single({ from, to }: Span): unknown {
    const text = this.#bytes.toString('utf8', from, to)
    if (text.startsWith('"') && !text.includes('\\')) return text.slice(1, -1)
    const isWhole = WHOLE.test(text)
    if (isWhole && text.length < LONG_CHARS) return Number(text)
    return isWhole && !Number.isSafeInteger(Number(text)) ? text : JSON.parse(text)
  }

  #value(part: Part, depth: number): Found {
    const from = this.#at
    const first = byteAt(this.#bytes, from)
    if (part.kind === 'fields' && first === OPEN_OBJECT) return this.#fields(part, depth + 1)
    if (part.kind === 'items' && first === OPEN_LIST) return this.#items(part, depth + 1)
    this.#at = endOfValue(this.#bytes, from, depth)
    return first === OPEN_OBJECT ? {} : first === OPEN_LIST ? [] : new Span(from, this.#at)
  }

  #fields({ names, encoded, parts }: Fields, depth: number): FoundFields {
    const found: FoundFields = {}
    for (let isThere = this.#enters(OPEN_OBJECT, depth); isThere; isThere = this.#goesOn(OPEN_OBJECT)) {
      const field = this.#field(names, encoded)
      if (field >= 0) found[names[field]!] = this.#value(parts[field]!, depth)
      else this.#at = endOfValue(this.#bytes, this.#at, depth)
    }
    return found
  }

  #items({ part, most }: Items, depth: number): Found[] {
    const found: Found[] = []
    for (let isThere = this.#enters(OPEN_LIST, depth); isThere; isThere = this.#goesOn(OPEN_LIST)) {
      if (found.length === most) {
        this.#at = endOfItems(this.#bytes, this.#at, depth)
        break
      }
      found.push(this.#value(part, depth))
    }
    return found
  }

  /** Enters an object or a list. @returns whether anything is in it */
  #enters(bracket: number, depth: number): boolean {
    if (depth > JSON_DEPTH_MAX) throw tooDeep()
    this.#at = endOfBlanks(this.#bytes, this.#at + 1)
    if (byteAt(this.#bytes, this.#at) !== bracket + TO_CLOSE) return true
    this.#at++
    return false
  }

  /** @returns false at the end of the object or list */
  #goesOn(bracket: number): boolean {
    this.#at = endOfBlanks(this.#bytes, this.#at)
    const next = byteAt(this.#bytes, this.#at++)
    if (next === bracket + TO_CLOSE) return false
    if (next !== COMMA) throw notJson()
    this.#at = endOfBlanks(this.#bytes, this.#at)
    return true
  }

  /** Reads the name of a field. @returns its index in `names`; -1: another */
  #field(names: readonly string[], encoded: readonly Uint8Array[]): number {
    const from = this.#at
    const to = endOfName(this.#bytes, from)
    this.#at = endOfColon(this.#bytes, to)
    // No closure: a body may have a hundred thousand fields.
    for (let i = 0; i < encoded.length; i++)
      if (encoded[i]!.length === to - from - 2 && isAt(this.#bytes, from + 1, encoded[i]!)) return i
    return isPlain(this.#bytes, from, to) ? -1 : names.indexOf(JSON.parse(this.#bytes.toString('utf8', from, to)))
  }
}

const WHOLE = /^-?\d+$/

/** 2^53 has sixteen digits. */
const LONG_CHARS = 16
