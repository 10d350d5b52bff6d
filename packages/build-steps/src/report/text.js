// @ts-check

/** A name, a message or a line is cut to this many characters. */
const CHARS_MAX = 300

/**
 * @typedef {(text: string) => string} Mask
 * @typedef {ReturnType<typeof createCleaner>} Cleaner
 */

/**
 * Prepares text from reports and logs. It is cut last, because a secret that was cut would not be recognised.
 *
 * @param {Mask} mask
 */
export function createCleaner(mask) {
  /** The lines that are not blank. @param {string} text */
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
  // A copy: a substring would keep the whole string in memory.
  return Buffer.from(short).toString()
}

// Invisible characters are removed before masking: they could be inside a secret.
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
