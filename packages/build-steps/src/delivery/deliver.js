// @ts-check
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, cutReason, isRecord, nameOf, parseJson, readRetryAfterMs, readText } from '../answer.js'
import { basicCredentials } from '../print.js'
import { EXIT } from '../program.js'

/** Timeout of one request, including the response. */
const CALL_MS_MAX = 10_000

/**
 * @typedef {import('./settings.js').Settings} Settings
 * @typedef {{ kind: 'taken', answer: string }} Taken
 * @typedef {{ kind: 'refused', exitCode: number, why: string }} Refused
 * @typedef {{ kind: 'passing', why: string, retryAfterMs: number | null }} Passing
 */

/**
 * Sends the delivery, and retries until the bot accepts or refuses it, or retries or time run out. A retry is safe: the
 * bot recognises a delivery that it already has.
 *
 * @param {Settings} settings
 * @param {string} body JSON
 * @param {number} retriesMax
 * @returns {Promise<Taken | Refused>}
 */
export async function deliver(settings, body, retriesMax) {
  const endAt = performance.now() + settings.deadlineMs
  for (let retries = 0; ; retries += 1) {
    const ending = await attempt(settings, body, Math.min(CALL_MS_MAX, endAt - performance.now()))
    if (ending.kind !== 'passing') return ending
    const pauseMs = ending.retryAfterMs ?? backoffMs(retries + 1)
    const hasTime = performance.now() + pauseMs < endAt
    if (retries === retriesMax || !hasTime)
      return givenUp(ending.why, retries + 1, hasTime ? null : settings.deadlineMs)
    await sleep(pauseMs)
  }
}

/** @param {string} why @param {number} tries @param {number | null} deadlineMs @returns {Refused} */
function givenUp(why, tries, deadlineMs) {
  const deadline = deadlineMs === null ? '' : ` within the deadline of ${deadlineMs / 1000} s`
  return {
    kind: 'refused',
    exitCode: EXIT.unavailable,
    why: `${why}; tried ${tries === 1 ? 'once' : `${tries} times`}${deadline}`,
  }
}

/** @param {Settings} settings @param {string} body @param {number} withinMs @returns {Promise<Taken | Refused | Passing>} */
async function attempt({ url, secret }, body, withinMs) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      // The secret never goes into the URL: proxies and servers log URLs.
      headers: { 'content-type': 'application/json', authorization: `Basic ${basicCredentials(secret)}` },
      body,
      // Following a redirect could send the secret to another server.
      redirect: 'manual',
      signal: AbortSignal.timeout(Math.max(1, Math.ceil(withinMs))),
    })
    return endingOf(response.status, await readText(response), response.headers.get('retry-after'))
  } catch (error) {
    return { kind: 'passing', why: `the bot could not be reached (${nameOf(error)})`, retryAfterMs: null }
  }
}

/** @param {number} status @param {string} text @param {string | null} retryAfter @returns {Taken | Refused | Passing} */
function endingOf(status, text, retryAfter) {
  const parsed = parseJson(text)
  const { status: answer, reason } = isRecord(parsed) ? parsed : {}
  // A proxy's sign-in page may also answer 200, so only the bot's own JSON counts as success.
  if (status < 300 && (answer === 'recorded' || answer === 'duplicate')) return { kind: 'taken', answer }
  if (PASSING.has(status)) {
    return { kind: 'passing', why: `the bot answered ${status}`, retryAfterMs: readRetryAfterMs(retryAfter) }
  }
  const elsewhere = 'is BUILDLINE_URL right?'
  if (SECRET_UNKNOWN.has(status))
    return refused(`the bot does not accept the secret (HTTP ${status}), or ${elsewhere}`, EXIT.refused)
  if (status < 400) return refused(`HTTP ${status}, but not an answer from the bot; ${elsewhere}`)
  return refused(`the bot refused it (HTTP ${status}${typeof reason === 'string' ? `: ${cutReason(reason)}` : ''})`)
}

const PASSING = new Set([429, 502, 503, 504])
const SECRET_UNKNOWN = new Set([401, 403, 404])

/** @param {string} why @param {number} [exitCode] @returns {Refused} */
const refused = (why, exitCode = EXIT.other) => ({ kind: 'refused', exitCode, why })
