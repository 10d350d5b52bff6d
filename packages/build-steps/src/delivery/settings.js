// @ts-check
import { nearest, quoted } from '../nearest.js'
import { Failure } from '../program.js'
import { flagOf, readBuild, sourceOf, variableOf } from './fields.js'

/** Default and maximum of `--deadline`: how long all tries together may take. */
export const DEADLINE_S = 60
export const DEADLINE_S_MAX = 600

/** The bot's endpoints for build steps. BUILDLINE_URL may already end in one of them. */
const ENDPOINT = /\/webhooks\/(?:builds|reports|git(?:hub|lab)(?:\/reports)?)$/
const BELOW_AN_ENDPOINT = /\/webhooks\/(?:git(?:hub|lab)\/)?(?:builds|reports)\//

/**
 * A command that sends something to the bot: its endpoint, the fields of `build` that it reads, and its own flags.
 *
 * @typedef {{
 *   name: string
 *   endpoint: string
 *   fields: readonly import('./fields.js').Field[]
 *   flags: readonly string[]
 *   faultsOf: (values: Values) => string[]
 *   usageExit: number
 * }} Step
 * @typedef {ReadonlyMap<string, readonly string[]>} Values the values given for each flag, in their order
 * @typedef {{
 *   url: URL
 *   secret: string
 *   build: Record<string, string | number>
 *   deadlineMs: number
 *   isStrict: boolean
 *   values: Values
 * }} Settings
 */

/**
 * Reads all settings. Throws a Failure that names all faults at once. A flag overrides the environment. An empty value
 * counts as not given.
 *
 * @param {Step} step
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Settings}
 */
export function readSettings(step, args, env) {
  const { values, isStrict } = readArgs(step, args)
  const valueOf = (/** @type {string} */ name) =>
    values.get(flagOf(name))?.at(-1)?.trim() || (env[variableOf(name)]?.trim() ?? '')
  /** @type {string[]} */
  const faults = []
  const url = readUrl(valueOf('url'), step.endpoint, faults)
  const secret = env['BUILDLINE_SECRET']?.trim() ?? ''
  if (secret === '') faults.push('BUILDLINE_SECRET is not set')
  const build = readBuild(step.fields, valueOf, faults)
  const deadlineMs = readDeadlineMs(values.get('--deadline')?.at(-1)?.trim() || String(DEADLINE_S), faults)
  faults.push(...step.faultsOf(values))
  if (url && faults.length === 0) return { url, secret, build, deadlineMs, isStrict, values }
  throw wrongUsage(step, faults.join('; '))
}

/**
 * An option always takes the next argument as its value, because a commit message may begin with a dash.
 *
 * @param {Step} step
 * @param {readonly string[]} args
 */
function readArgs(step, args) {
  const flags = ['--url', '--deadline', ...step.flags, ...step.fields.map(({ name }) => flagOf(name))]
  /** @type {Map<string, string[]>} */
  const values = new Map()
  let isStrict = false
  for (let at = 0; at < args.length; at += 1) {
    const { flag, inline } = splitOnce(args[at] ?? '')
    if (args[at] === '--strict') isStrict = true
    else if (!flags.includes(flag)) throw wrongUsage(step, unknownFlag(flag, flags))
    else {
      const value = inline ?? args[(at += 1)]
      if (value === undefined) throw wrongUsage(step, `${flag} needs a value`)
      values.set(flag, [...(values.get(flag) ?? []), value])
    }
  }
  return { values, isStrict }
}

/** @param {Step} step @param {string} what */
const wrongUsage = ({ name, usageExit }, what) => new Failure(usageExit, `${what}. See buildline ${name} --help`)

/** Splits `--name=value`. @param {string} arg @returns {{ flag: string, inline?: string }} */
function splitOnce(arg) {
  const at = arg.indexOf('=')
  return at < 0 ? { flag: arg } : { flag: arg.slice(0, at), inline: arg.slice(at + 1) }
}

/** @param {string} flag @param {readonly string[]} flags */
function unknownFlag(flag, flags) {
  if (flag === '--secret') return 'the secret is read only from BUILDLINE_SECRET: a flag would show in process lists'
  if (!flag.startsWith('--')) return 'unexpected word; quote values that contain spaces'
  return `unknown option ${quoted(flag)}; the nearest is ${nearest(flag, [...flags, '--strict'])}`
}

// No fault quotes the address: people may paste one that contains the secret.
/** @param {string} text @param {string} endpoint @param {string[]} faults @returns {URL | null} */
function readUrl(text, endpoint, faults) {
  const url = parseUrl(text, endpoint)
  const source = sourceOf('url')
  if (text === '') faults.push(`${source} is not set: the bot's address, such as https://bot.example`)
  else if (!url) faults.push(`${source} is not an http(s) address`)
  else if (url.username || url.password || url.search || url.hash || BELOW_AN_ENDPOINT.test(url.pathname)) {
    faults.push(`${source} contains more than the bot's address: the secret belongs in BUILDLINE_SECRET`)
  }
  return url
}

/** The endpoint's URL. The address may already end in one. @param {string} text @param {string} endpoint */
function parseUrl(text, endpoint) {
  try {
    const url = new URL(text)
    url.pathname = `${url.pathname.replace(/\/+$/, '').replace(ENDPOINT, '')}${endpoint}`
    return /^https?:$/.test(url.protocol) ? url : null
  } catch {
    return null
  }
}

/** @param {string} text @param {string[]} faults */
function readDeadlineMs(text, faults) {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0
  const isPossible = seconds >= 1 && seconds <= DEADLINE_S_MAX
  if (!isPossible) faults.push(`--deadline is not a whole number of seconds from 1 to ${DEADLINE_S_MAX}`)
  return seconds * 1000
}
