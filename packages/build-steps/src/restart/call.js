// @ts-check
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, nameOf, readRetryAfterMs, readText } from '../answer.js'

/** Timeout of one request, including the response. */
const CALL_MS_MAX = 10_000
/** Retries of a GET. */
const GET_RETRIES_MAX = 2
/** The longest Retry-After that is waited for. If CI asks for more, the program gives up and says so. */
const PAUSE_MS_MAX = 10_000

/**
 * @typedef {import('./settings.js').Settings} Settings
 * @typedef {{ kind: 'answer', status: number, said: string, text: string, retryAfterMs: number | null }} Answer
 * @typedef {{ kind: 'trouble', why: string }} Trouble
 * @typedef {Answer | Trouble} Ending
 */

/**
 * Sends a GET, and retries it if that may help.
 *
 * @param {Settings} settings
 * @param {string} path
 * @param {Record<string, string>} query
 * @returns {Promise<Ending>}
 */
export async function getPatiently(settings, path, query) {
  for (let retries = 0; ; retries += 1) {
    const ending = await call(settings, 'GET', path, query)
    const pauseMs = pauseAfter(ending, retries + 1)
    if (pauseMs === null || pauseMs > PAUSE_MS_MAX || retries === GET_RETRIES_MAX) return ending
    await sleep(pauseMs)
  }
}

/** The pause before a retry; null if a retry cannot help. @param {Ending} ending @param {number} retry */
function pauseAfter(ending, retry) {
  if (ending.kind === 'trouble') return backoffMs(retry)
  return isFault(ending) || isRateLimit(ending) ? (ending.retryAfterMs ?? backoffMs(retry)) : null
}

/**
 * Sends one request below /api/v1, without retries: a retry could restart the build twice.
 *
 * @param {Settings} settings
 * @param {'GET' | 'POST'} method
 * @param {string} path
 * @param {Record<string, string>} [query]
 * @returns {Promise<Ending>}
 */
export async function call({ base, apiKey }, method, path, query = {}) {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/api/v1/${path}`
  url.search = new URLSearchParams({ ...query, api_key: apiKey }).toString()
  try {
    // Following a redirect could send the key to another server, and could turn the POST into a GET.
    const response = await fetch(url, { method, redirect: 'manual', signal: AbortSignal.timeout(CALL_MS_MAX) })
    const { status, statusText: said, headers } = response
    const isAccepted = method === 'POST' && response.ok
    // CI accepted the restart with its status, even if the body cannot be read.
    const text = await readText(response).catch((error) => (isAccepted ? '' : Promise.reject(error)))
    return { kind: 'answer', status, said, text, retryAfterMs: readRetryAfterMs(headers.get('retry-after')) }
  } catch (error) {
    return { kind: 'trouble', why: nameOf(error) }
  }
}

/** @param {Ending} ending @returns {ending is Answer} */
export const isSuccess = (ending) => ending.kind === 'answer' && ending.status >= 200 && ending.status < 300

/** CI failed. It may have done what was requested. @param {Answer} answer */
export const isFault = ({ status }) => status >= 500 || status === 408

/** @param {Answer} answer */
export const isRateLimit = ({ status, said, text }) =>
  status === 429 || (status === 403 && /rate[\s_-]*limit/i.test(`${said} ${text}`))
