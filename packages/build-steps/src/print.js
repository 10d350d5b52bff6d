// @ts-check

/**
 * All that a program prints. `line` and `error` remove the secret; `text` prints our own words as they are.
 *
 * @typedef {Record<'line' | 'error' | 'text', (text: string) => void>} Print
 */

/**
 * @param {string} secret
 * @param {NodeJS.WritableStream} stdout
 * @param {NodeJS.WritableStream} stderr
 * @returns {Print}
 */
export function createPrint(secret, stdout, stderr) {
  const clean = (/** @type {string} */ text) => hide(plain(text), secret)
  return {
    line: (text) => void stdout.write(`${clean(text)}\n`),
    error: (text) => void stderr.write(`${clean(text)}\n`),
    text: (text) => void stdout.write(text),
  }
}

/** One line without control characters, which could rewrite the terminal. @param {string} text */
export const plain = (text) => text.replace(/\p{Cf}+/gu, '').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')

/** @param {string} text @param {string} secret */
const hide = (text, secret) => formsOf(secret).reduce((hidden, form) => hidden.split(form).join('[removed]'), text)

/** The secret as URLs, forms, headers and JSON encode it, longest first. @param {string} secret */
function formsOf(secret) {
  if (secret === '') return []
  const forms = [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
    basicCredentials(secret),
  ]
  return [...new Set(forms)].sort((one, other) => other.length - one.length)
}

/** HTTP Basic credentials with the secret as password. @param {string} secret */
export const basicCredentials = (secret) => Buffer.from(`buildline:${secret}`).toString('base64')

/**
 * Whether a text contains the secret in one of its forms, also with punctuation or spaces inserted.
 *
 * @param {string} text
 * @param {string} secret
 */
export function holdsSecret(text, secret) {
  const bare = (/** @type {string} */ words) => words.toLowerCase().replace(/[^a-z0-9]/g, '')
  return formsOf(secret).some((form) => [text, decoded(text)].some((words) => bare(words).includes(bare(form))))
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
