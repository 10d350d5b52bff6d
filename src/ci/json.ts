/** The deepest nesting that is parsed; the interface needs about six. */
export const JSON_DEPTH_MAX = 64

/**
 * Parses what CI sent. Whole numbers beyond 2^53 become digit strings, so that ids survive.
 * Throws a SyntaxError that quotes nothing of the text: not JSON, or nested deeper than `JSON_DEPTH_MAX`.
 */
export function parseJson(text: string): unknown {
  if (isDeeperThan(JSON_DEPTH_MAX, text)) throw new SyntaxError('the JSON is nested too deep')
  try {
    return JSON.parse(text, keepBigIntegers)
  } catch {
    // The parser's own message quotes the text, and the text may hold a secret.
    throw new SyntaxError('the text is not JSON')
  }
}

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
    const char = text[at]
    if (char === '"') isInString = !isInString
    else if (isInString) at += char === '\\' ? 1 : 0
    else if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') depth -= 1
    if (depth > depthMax) return true
  }
  return false
}
