// @ts-check
import { cutReason, isRecord, parseJson } from '../answer.js'
import { holdsSecret, plain } from '../print.js'
import { EXIT, Failure } from '../program.js'
import { isFault, isRateLimit } from './call.js'
import { wordOf } from './words.js'

/**
 * @typedef {import('./call.js').Answer} Answer
 * @typedef {import('./call.js').Ending} Ending
 * @typedef {import('./settings.js').Settings} Settings
 */

const NOTHING_DONE = 'nothing was restarted; run it again later'

/** Why the project could not be read. @param {Settings} settings @param {Ending} ending */
export function readFailure(settings, ending) {
  if (ending.kind === 'trouble') return unavailable(`CI could not be reached (${ending.why}): ${NOTHING_DONE}`)
  const what = `(HTTP ${ending.status}${reasonOf(ending, settings)})`
  if (isFault(ending) && !isRateLimit(ending)) return unavailable(`CI had an internal error ${what}: ${NOTHING_DONE}`)
  if (isGone(ending)) {
    const hint = 'check SERVICE_API_PROJECT_ID; a Pro project cannot be restarted this way'
    return new Failure(EXIT.notFound, `CI has no Basic project ${settings.projectId} ${what}: ${hint}`)
  }
  return refusal(ending, what) ?? new Failure(EXIT.other, `CI did not accept the request ${what}`)
}

/** Why the restart failed, or may have. @param {Settings} settings @param {import('./restart.js').Build} build @param {Ending} ending */
export function restartFailure(settings, build, ending) {
  if (ending.kind === 'trouble') return unclear(build.id, ending.why)
  const reason = reasonOf(ending, settings)
  const what = `(HTTP ${ending.status}${reason})`
  if (isFault(ending)) return unclear(build.id, `HTTP ${ending.status}${reason}`)
  if (isGone(ending)) return new Failure(EXIT.notFound, `CI has no build #${build.id} that it could restart ${what}`)
  const hint = `it was ${wordOf(build.status)}, and only a finished build can be restarted`
  return refusal(ending, what) ?? new Failure(EXIT.other, `CI did not restart build #${build.id} ${what}: ${hint}`)
}

/** @param {string} message */
const unavailable = (message) => new Failure(EXIT.unavailable, message)

/** @param {string} id @param {string} why */
const unclear = (id, why) =>
  unavailable(
    `the restart of build #${id} is unclear (${why}): it may have been restarted; look before you run it again`,
  )

/** @param {Answer} answer */
const isGone = ({ status }) => status === 404 || status === 410

/** Refusals that either request can get; CI did nothing then. @param {Answer} answer @param {string} what */
function refusal(answer, what) {
  const { status } = answer
  if (isRateLimit(answer)) return new Failure(EXIT.other, `CI is limiting our requests ${what}: ${NOTHING_DONE}`)
  if (status === 401 || status === 403) {
    return new Failure(
      EXIT.refused,
      `CI refused the key ${what}: check SERVICE_API_KEY; the right one is on CI's account page`,
    )
  }
  return status < 400 ? new Failure(EXIT.other, `CI redirects ${what}: is SERVICE_API_URL right?`) : null
}

/**
 * `: ` and CI's reason. Empty if the response is not JSON, or if the reason may contain the key in some form.
 *
 * @param {Answer} answer
 * @param {Settings} settings
 */
function reasonOf({ text }, { apiKey }) {
  const parsed = parseJson(text)
  const said = isRecord(parsed)
    ? [parsed['errors'], parsed['error']].flat().filter((one) => typeof one === 'string')
    : []
  const reason = plain(said.join('; ')).trim()
  return reason === '' || holdsSecret(reason, apiKey) ? '' : `: ${cutReason(reason)}`
}
