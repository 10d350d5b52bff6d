/** The deepest nesting that is parsed; CI's interface needs about six levels. */
export const JSON_DEPTH_MAX = 64

/**
 * Parses JSON from CI. Whole numbers beyond 2^53 become digit strings, so that no id is rounded; `numbersAsWritten`
 * undoes that. Throws a SyntaxError without any of the text: not JSON, or nested deeper than `JSON_DEPTH_MAX`.
 */
export function parseJson(text: string): unknown {
  if (opensMoreThan(JSON_DEPTH_MAX, text) && isDeeperThan(JSON_DEPTH_MAX, text))
    throw new SyntaxError('the JSON is nested too deep')
  try {
    // A reviver costs as much as the parsing itself, and only long numbers need it.
    return LONG_NUMBER.test(text) ? JSON.parse(text, keepLongNumbers) : JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, and the text may hold a secret.
    throw new SyntaxError('the text is not JSON')
  }
}

/** The same, or null if the text cannot be parsed. */
export function findJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

// 2^53 has sixteen digits.
const LONG_NUMBER = /\d{16}/

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

// A fast first check: most texts have too few brackets to be that deep, and searching for brackets is cheap.
function opensMoreThan(most: number, text: string): boolean {
  let found = 0
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at >= 0 && found <= most; at = text.indexOf(bracket, at + 1)) found++
  return found > most
}

// Checked before parsing: the parser itself recurses, and stringifying the value later would throw.
function isDeeperThan(depthMax: number, text: string): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isInString = !isInString
    else if (isInString) at += code === BACKSLASH ? 1 : 0
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1
    if (depth > depthMax) return true
  }
  return false
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 91, 93, 123, 125]
