// @ts-check
import { isRecord, parseJson } from '../answer.js'
import { EXIT, Failure } from '../program.js'
import { call, getPatiently, isSuccess } from './call.js'
import { readFailure, restartFailure } from './failures.js'
import { wordOf } from './words.js'

/**
 * @typedef {import('./settings.js').Settings} Settings
 * @typedef {{ id: string, status: string }} Build
 * @typedef {{ name: string, builds: Build[] }} Project
 */

/**
 * Prints which build is the branch's last one, then restarts it. Sends the restart only once. Throws a Failure.
 * Source: interface, E8 and E9.
 *
 * @param {Settings} settings
 * @param {(line: string) => void} say
 */
export async function restartLastBuild(settings, say) {
  const project = await getProject(settings)
  const build = lastOf(project.builds)
  if (!build) throw new Failure(EXIT.notFound, `CI shows no build of ${project.name} on ${settings.branch}`)
  say(`restarting build #${build.id} (${wordOf(build.status)}) of ${project.name} on ${settings.branch}`)
  const id = await restart(settings, build)
  if (id === null) say('CI accepted the restart')
  else say(id === build.id ? `CI accepted: build #${id}, the same build again` : `CI accepted: build #${id}, a new one`)
}

/** @param {Settings} settings @returns {Promise<Project>} */
async function getProject(settings) {
  const ending = await getPatiently(settings, `projects/${settings.projectId}.json`, { branch: settings.branch })
  if (!isSuccess(ending)) throw readFailure(settings, ending)
  const project = unwrap(parseJson(ending.text), 'project')
  const builds = project?.['builds']
  if (!project || !Array.isArray(builds)) {
    throw new Failure(EXIT.other, 'CI sent an unexpected response; is SERVICE_API_URL right?')
  }
  const name = typeof project['repository_name'] === 'string' ? project['repository_name'].trim() : ''
  return { name: name || `project ${settings.projectId}`, builds: builds.flatMap((one) => readBuild(one, settings)) }
}

// The request names one branch. If CI shows builds of other branches too, they are ignored.
/** @param {unknown} value @param {Settings} settings @returns {Build[]} */
function readBuild(value, { branch }) {
  if (!isRecord(value)) return []
  const id = readId(value['id'])
  const isOfBranch = value['branch'] == null || value['branch'] === branch
  return id && isOfBranch ? [{ id, status: typeof value['status'] === 'string' ? value['status'] : '' }] : []
}

/**
 * The build with the highest id. Ids are digit strings, because they may be too large for a double.
 *
 * @param {readonly Build[]} builds
 */
const lastOf = (builds) =>
  builds.reduce((/** @type {Build | null} */ last, one) => (last && !isHigher(one.id, last.id) ? last : one), null)

/** @param {string} one @param {string} other */
const isHigher = (one, other) => (one.length === other.length ? one > other : one.length > other.length)

/**
 * Resolves to the id of the build that runs now, or null if CI does not say.
 *
 * @param {Settings} settings
 * @param {Build} build
 */
async function restart(settings, build) {
  const ending = await call(settings, 'POST', `builds/${build.id}/restart.json`)
  if (!isSuccess(ending)) throw restartFailure(settings, build, ending)
  return readId(unwrap(parseJson(ending.text), 'build')?.['id'])
}

/** CI answers with the object itself, or wraps it: `{ [name]: object }`. @param {unknown} value @param {string} name */
function unwrap(value, name) {
  if (!isRecord(value)) return null
  return isRecord(value[name]) ? value[name] : value
}

/** @param {unknown} value */
function readId(value) {
  const digits = typeof value === 'number' ? String(value) : value
  return typeof digits === 'string' && /^(?:0|[1-9]\d{0,19})$/.test(digits) ? digits : null
}
