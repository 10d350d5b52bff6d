// @ts-check
import { hideRanges, secretsIn } from '../../../../src/lib/secret-shapes.ts'

/** Shorter values are not masked: they would match inside ordinary words. */
const VALUE_CHARS_MIN = 6
/** Only this much of a value is searched for. */
const VALUE_CHARS_MAX = 16 * 1024
/** A part of a value is masked from this length on, or from half the value if that is shorter. */
const PART_CHARS = 10

const SECRET_NAME =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|PRIVATE|CREDENTIAL|AUTH(?!OR(?!I))|COOKIE|WEBHOOK|(?:_|^)(?:PASS|KEY|DSN)(?:_|$)|_PWD$/i

/**
 * Makes a function that replaces secrets with `***`: what matches a pattern, and the values of environment variables
 * with secret-looking names, plain, URL-encoded, in JSON or in base64, whole or in part.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {(text: string) => string}
 */
export function createMask(env) {
  const parts = partsOf(secretsOf(env))
  return (text) => hideRanges(text, [...secretsIn(text), ...partsIn(text, parts)])
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

/** @typedef {import('../../../../src/lib/secret-shapes.ts').Range} Range */

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
