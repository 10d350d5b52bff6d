// @ts-check

/** The largest answer that is read. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** Of a reason so many characters are passed on. */
const REASON_CHARS_MAX = 200

/**
 * An answer's body as text; of one that is larger than is read, nothing. Rejects when it breaks off.
 *
 * @param {Response} response
 */
export async function readText(response) {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const chunks = []
  let bytes = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length
    if (bytes > ANSWER_BYTES_MAX) {
      await reader.cancel()
      return ''
    }
    chunks.push(part.value)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Long whole numbers become digit strings, so that no id loses a digit; undefined when the text is no JSON.
 *
 * @param {string} text
 * @returns {unknown}
 */
export function parseJson(text) {
  try {
    const value = JSON.parse(text)
    if (!/\d{16}/.test(text)) return value
    // Older engines do not show a reviver the digits: they are made strings before.
    return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (/^\d{16,}$/.test(token) ? `"${token}"` : token)))
  } catch {
    return undefined
  }
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `Retry-After`, in seconds or as a date. @param {string | null} header */
export function readRetryAfterMs(header) {
  if (header === null) return null
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

/**
 * How long to wait before the nth retry where nobody says: it doubles, and no two machines keep step.
 *
 * @param {number} n from 1
 */
export const backoffMs = (n) => PAUSE_MS * 2 ** (n - 1) * (0.5 + Math.random() / 2)

const PAUSE_MS = 500

/** @param {string} reason */
export function cutReason(reason) {
  const points = Array.from(reason)
  return points.length <= REASON_CHARS_MAX ? reason : `${points.slice(0, REASON_CHARS_MAX - 1).join('')}…`
}

/**
 * What went wrong, in a name or code: messages of the network may hold the address, and that may hold the key.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function nameOf(error) {
  if (!(error instanceof Error)) return 'no known reason'
  if (error.name === 'TimeoutError') return 'no answer in time'
  const { code } = /** @type {{ code?: unknown }} */ (error.cause ?? error)
  return typeof code === 'string' ? code : 'no connection'
}
