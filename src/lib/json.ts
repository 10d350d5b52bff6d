/** The deepest nesting that is read; CI's interface needs about six levels. */
export const JSON_DEPTH_MAX = 64

/**
 * Parses JSON that may be written back, such as CI's answers. Whole numbers beyond 2^53 become digit strings, so that no id is rounded; `numbersAsWritten`
 * undoes that. Throws a SyntaxError without any of the text: not JSON, or nested deeper than `JSON_DEPTH_MAX`.
 */
export const parseJson = (text: string): unknown => parse(text, () => JSON.parse(text, keepLongNumbers))

/** The same for a body that was sent to us. It is not written back, so it needs no reviver, which takes several times as long (decision 27). */
export const parseBody = (text: string): unknown =>
  parse(text, () => JSON.parse(text.replaceAll(STRING_OR_LONG, (found) => (isLong(found) ? `"${found}"` : found))))

function parse(text: string, withLongNumbers: () => unknown): unknown {
  refuseDeep(text)
  try {
    return LONG_NUMBER.test(text) ? withLongNumbers() : JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, and the text may hold a secret.
    throw new SyntaxError('the text is not JSON')
  }
}

/** `parseJson`, or null if the text cannot be parsed. */
export function findJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

// 2^53 has sixteen digits. The hash of a commit may have as many in a row, but it is in quotes.
const LONG_NUMBER = /(?:^|[[:,.\s])-?\d{16}/

// An unterminated string is one match, so this takes linear time. A number where a field's name should be is left alone, so
// `JSON.parse` refuses it.
const STRING_OR_LONG = /"(?:[^"\\]|\\[^])*"?|(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE]|\s*:)/g

const isLong = (found: string): boolean => !found.startsWith('"') && !Number.isSafeInteger(Number(found))

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

/**
 * A copy for `JSON.stringify` that writes each number with the digits that were parsed. It works for values from
 * `parseJson` and for objects spread from them; a copy made through JSON has lost the digits.
 */
export function numbersAsWritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, at) => asWritten(value, String(at), item))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, asWritten(value, name, item)]))
}

/** The number with these digits, for `JSON.stringify`: beyond 2^53 a double would be rounded. */
export const numberOf = (digits: string): unknown =>
  Number.isSafeInteger(Number(digits)) ? Number(digits) : JSON.rawJSON(digits)

// Node has these functions; TypeScript's types do not declare them yet.
declare global {
  interface JSON {
    rawJSON(text: string): unknown
    isRawJSON(value: unknown): boolean
  }
}

function asWritten(holder: object, key: string, value: unknown): unknown {
  const written = writtenIn(holder)?.get(key)
  // Code that spread the object may have replaced the number with another value.
  const isIt = written !== undefined && (value === written || value === Number(written))
  return isIt ? JSON.rawJSON(written) : numbersAsWritten(value)
}

function keepLongNumbers(this: object, key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? String(value)
  note(this, key, source)
  return /^-?\d+$/.test(source) ? source : value
}

type Written = Map<string, string>

// An object keeps its digits under a symbol: spreading copies them, but loops over field names and JSON skip them.
const WRITTEN = Symbol('numbers as written')
const writtenInLists = new WeakMap<object, Written>()

const writtenIn = (holder: object): Written | undefined => {
  const own: unknown = Array.isArray(holder) ? writtenInLists.get(holder) : Reflect.get(holder, WRITTEN)
  return own instanceof Map ? own : undefined
}

function note(holder: object, key: string, source: string): void {
  const written = writtenIn(holder) ?? new Map<string, string>()
  written.set(key, source)
  if (Array.isArray(holder)) writtenInLists.set(holder, written)
  else Reflect.set(holder, WRITTEN, written)
}

// Before parsing: to stringify a value that is nested too deep would throw later.
function refuseDeep(text: string): void {
  let depth = 0
  let isString = false
  for (let at = 0; at < text.length; at++) {
    const one = text[at]
    if (isString && one === '\\') at++
    else if (one === '"') isString = !isString
    else if (isString) continue
    else if (one === ']' || one === '}') depth--
    else if ((one === '[' || one === '{') && ++depth > JSON_DEPTH_MAX)
      throw new SyntaxError('the JSON is nested too deep')
  }
}
