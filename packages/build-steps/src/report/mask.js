// @ts-check

/** Shorter values are not masked: they would match inside ordinary words. */
const VALUE_CHARS_MIN = 6
/** Only this much of a value is searched for. */
const VALUE_CHARS_MAX = 16 * 1024
/** A part of a value is masked from this length on, or from half the value if that is shorter. */
const PART_CHARS = 10

const SECRET_NAME =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|PRIVATE|CREDENTIAL|AUTH(?!OR(?!I))|COOKIE|WEBHOOK|(?:_|^)(?:PASS|KEY|DSN)(?:_|$)|_PWD$/i

/** Patterns of secrets. They also match the beginning of one that was cut off. */
const SHAPES = [
  /gh[pousr]_\w{4,}|github_pat_\w{4,}|gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\w-]{4,}|xox[a-z]-[\w-]{4,}|xapp-[\w-]{4,}/g,
  /(?:AKIA|ASIA)[A-Z0-9]{6,}|AIza[\w-]{20,}|(?:npm|hf)_\w{20,}|(?<![a-z])(?:sk|rk)[-_][\w-]{12,}/g,
  /eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g,
  /(?<=authorization(?:\\?["']|%22)?\s{0,9}(?:[:=]|%3A)[\s+]{0,9})(?:\\?["'])?[^"'\\\r\n]+/gi,
  /(?<=\bbearer(?:[\s+]|%20){1,9})[\w.~+/=-]{8,}/gi,
  // User and password in a URL.
  /(?<=:\/\/)(?:[^\s/?#"'<>@]{1,400}|[^\s/?#"'<>@:]{1,200}:(?!\d+[/?#])[^\s"'<>@]{1,400})(?=@)/g,
  /(?<=%3A%2F%2F)[^\s&"'<>@]{1,400}?(?=%40)/gi,
]

/**
 * Makes a function that replaces secrets with `***`: what matches a pattern, and the values of environment variables
 * with secret-looking names, plain, URL-encoded, in JSON or in base64, whole or in part.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {(text: string) => string}
 */
export function createMask(env) {
  const parts = partsOf(secretsOf(env))
  return (text) => hidden(text, [...shapesIn(text), ...privateKeysIn(text), ...base64In(text), ...partsIn(text, parts)])
}

/** @param {Readonly<Record<string, string | undefined>>} env */
const secretsOf = (env) =>
  Object.entries(env).flatMap(([name, value = '']) => {
    const secret = SECRET_NAME.test(name) ? value.trim() : passwordOf(value)
    // By whole characters: half of a pair cannot be URL-encoded.
    const said = Array.from(secret.replace(SCHEME, '')).slice(0, VALUE_CHARS_MAX).join('')
    return said.length >= VALUE_CHARS_MIN ? [said] : []
  })

/** Removed from a value before the search: other URLs begin like this too. */
const SCHEME = /^https?:\/\//i

/** The password in a URL, such as a database's. @param {string} value */
function passwordOf(value) {
  try {
    return value.includes('://') ? decodeURIComponent(new URL(value).password) : ''
  } catch {
    return ''
  }
}

/** All parts of the secrets that are long enough to be masked, grouped by length. @param {readonly string[]} secrets */
function partsOf(secrets) {
  /** @type {Map<number, Set<string>>} */
  const parts = new Map()
  for (const form of new Set(secrets.flatMap(formsOf))) {
    const length = Math.min(form.length, Math.max(VALUE_CHARS_MIN, Math.min(PART_CHARS, Math.ceil(form.length / 2))))
    const known = parts.get(length) ?? new Set()
    for (let at = 0; at + length <= form.length; at += 1) known.add(form.slice(at, at + length))
    parts.set(length, known)
  }
  return parts
}

/** @param {string} secret */
function formsOf(secret) {
  const encoded = [encodeURIComponent(secret), new URLSearchParams({ '': secret }).toString().slice(1)]
  return [
    secret,
    ...encoded,
    ...encoded.map((form) => form.replace(/%../g, (hex) => hex.toLowerCase())),
    JSON.stringify(secret).slice(1, -1),
    ...[0, 1, 2].flatMap((before) => base64Of(secret, before)),
  ]
}

/** The secret within the base64 of a longer text, after `before` bytes; in both base64 alphabets. @param {string} secret @param {number} before */
function base64Of(secret, before) {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
  const certain = bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
  return [certain, certain.replaceAll('+', '-').replaceAll('/', '_')]
}

/** @typedef {[from: number, to: number]} Range */

/** @param {string} text @returns {Range[]} */
const shapesIn = (text) => SHAPES.flatMap((shape) => rangesOf(text, shape))

/** @param {string} text @param {RegExp} pattern @returns {Range[]} */
const rangesOf = (text, pattern) =>
  Array.from(text.matchAll(pattern), ({ 0: found, index }) => [index, index + found.length])

/** Private keys in PEM, also without their beginning or end. @param {string} text */
function privateKeysIn(text) {
  /** @type {Range[]} */
  const ranges = []
  /** @type {{ from: number, isKey: boolean | null }} */
  let before = { from: 0, isKey: null }
  for (const { 0: marker, 1: edge, index } of text.matchAll(/-----(BEGIN|END)([^-]{0,80})-----/g)) {
    const isBegin = edge === 'BEGIN'
    const end = index + marker.length
    const isKey = marker.includes('PRIVATE')
    if (before.isKey ?? (isKey && !isBegin)) ranges.push([before.from, isBegin ? index : end])
    before = isBegin ? { from: index, isKey } : { from: end, isKey: null }
  }
  if (before.isKey) ranges.push([before.from, text.length])
  return ranges
}

/** Base64 of a text with a secret's shape. @param {string} text @returns {Range[]} */
const base64In = (text) =>
  rangesOf(text, /[\w+/-]{16,}={0,2}/g).filter(([from, to]) =>
    [0, 1, 2, 3].some(
      (skipped) => shapesIn(Buffer.from(text.slice(from + skipped, to), 'base64').toString('latin1'))[0],
    ),
  )

/** @param {string} text @param {ReadonlyMap<number, ReadonlySet<string>>} parts @returns {Range[]} */
function partsIn(text, parts) {
  /** @type {Range[]} */
  const ranges = []
  for (const [length, known] of parts) {
    for (let at = 0; at + length <= text.length; at += 1) {
      if (known.has(text.slice(at, at + length))) ranges.push([at, at + length])
    }
  }
  return ranges
}

/** @param {string} text @param {Range[]} ranges */
function hidden(text, ranges) {
  let [shown, end] = ['', 0]
  for (const [from, to] of ranges.sort(([one], [other]) => one - other)) {
    if (from > end || (from === end && end === 0)) shown += `${text.slice(end, from)}***`
    end = Math.max(end, to)
  }
  return shown + text.slice(end)
}
