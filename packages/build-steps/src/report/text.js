// @ts-check

/** Of a name, a message or a line so many characters are sent. */
const CHARS_MAX = 300

/**
 * @typedef {(text: string) => string} Mask
 * @typedef {ReturnType<typeof createCleaner>} Cleaner
 */

/**
 * Makes outside text fit to be sent: without what colours a terminal, masked, and only then cut.
 *
 * @param {Mask} mask
 */
export function createCleaner(mask) {
  /** Each line that says something. @param {string} text */
  const lines = (text) =>
    mask(withoutControls(text))
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
  /** All in one line, not cut. @param {string} text */
  const whole = (text) => lines(text).join(' ')
  return { lines, whole, cut }
}

/** @param {string} text */
function cut(text) {
  const points = Array.from(text)
  const short = points.length <= CHARS_MAX ? text : `${points.slice(0, CHARS_MAX - 1).join('')}…`
  // A copy: a part of a string keeps the whole of it in memory.
  return Buffer.from(short).toString()
}

// Invisible characters go before the mask looks: they could stand within a secret.
/** @param {string} text */
const withoutControls = (text) =>
  text
    .replace(ESCAPES, '')
    .replace(/\p{Cf}+/gu, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n]+/gu, ' ')

/** Colours and other commands to a terminal; some runners write the escape character as `#x1B` or `&#27;`. */
const ESCAPES = new RegExp(
  String.raw`(?:\u001b|&?#x1B;?|&#27;)\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-_]|\u009b[0-?]*[ -/]*[@-~]`,
  'gi',
)
