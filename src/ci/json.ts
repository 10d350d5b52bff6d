/** The deepest nesting that is parsed; the interface needs about six. */
export const JSON_DEPTH_MAX = 64

/**
 * Parses what CI sent. Whole numbers beyond 2^53 become digit strings, so that ids survive.
 * Throws a SyntaxError that quotes nothing of the text: not JSON, or nested deeper than `JSON_DEPTH_MAX`.
 */
export function parseJson(text: string): unknown {
  if (isDeeperThan(JSON_DEPTH_MAX, text)) throw new SyntaxError('the JSON is nested too deep')
  try {
    // Looking at each value costs as much as parsing; only a long number needs it.
    return LONG_NUMBER.test(text) ? JSON.parse(text, keepBigIntegers) : JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, and the text may hold a secret.
    throw new SyntaxError('the text is not JSON')
  }
}

// 2^53 has sixteen digits.
const LONG_NUMBER = /\d{16}/

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function keepBigIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return /^-?\d+$/.test(source) ? source : value
}

// Before parsing: the parser itself recurses, and whoever stringifies the value later would throw.
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
