// @ts-check

/** The largest response body that is read. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** A reason is cut to this many characters. */
const REASON_CHARS_MAX = 200

/**
 * The body of a response as text; empty if it is larger than ANSWER_BYTES_MAX. Rejects if the connection breaks.
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
 * Parses JSON; undefined if `text` is none. Integers of 16 digits or more become strings, so that ids stay exact.
 *
 * @param {string} text
 * @returns {unknown}
 */
export function parseJson(text) {
  try {
    const value = JSON.parse(text)
    if (!/\d{16}/.test(text)) return value
    // In older Nodes, a reviver cannot see a number's digits, so long numbers are quoted before parsing.
    return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (/^\d{16,}$/.test(token) ? `"${token}"` : token)))
  } catch {
    return undefined
  }
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads `Retry-After`, in seconds or as a date; null if it is missing or invalid. @param {string | null} header */
export function readRetryAfterMs(header) {
  if (header === null) return null
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

/**
 * How long to wait before the nth retry if the server does not say. Doubles each time; jitter spreads the machines.
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
 * A short name or code for an error. The error's message may contain the URL, and the URL may contain the key.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function nameOf(error) {
  if (!(error instanceof Error)) return 'no known reason'
  if (error.name === 'TimeoutError') return 'no answer in time'
  const { code } = /** @type {{ code?: unknown }} */ (error.cause ?? error)
  if (typeof code === 'string') return code
  // `fetch` gives each network error a cause.
  return error.cause === undefined ? 'an internal error' : 'no connection'
}
