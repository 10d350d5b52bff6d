// @ts-check
import { nearest, quoted } from '../nearest.js'
import { EXIT, Failure } from '../program.js'
import { FIELDS, flagOf, readBuild, sourceOf, variableOf } from './fields.js'

/** How long all tries together may take, where nobody says, and at most. */
export const DEADLINE_S = 60
export const DEADLINE_S_MAX = 600

const DOOR = '/webhooks/builds'
const SEE_HELP = 'See buildline notify --help'

/**
 * @typedef {{ url: URL, secret: string, build: Record<string, string | number>, deadlineMs: number, isStrict: boolean }} Settings
 */

/**
 * All that is needed, or a Failure that names every fault at once. A flag counts more than the environment, and an empty
 * value as none.
 *
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Settings}
 */
export function readSettings(args, env) {
  const { values, isStrict } = readArgs(args)
  const valueOf = (/** @type {string} */ name) =>
    values.get(flagOf(name))?.trim() || (env[variableOf(name)]?.trim() ?? '')
  /** @type {string[]} */
  const faults = []
  const url = readUrl(valueOf('url'), faults)
  const secret = env['BUILDLINE_SECRET']?.trim() ?? ''
  if (secret === '') faults.push('BUILDLINE_SECRET is not set')
  const build = readBuild(valueOf, faults)
  const deadlineMs = readDeadlineMs(values.get('--deadline')?.trim() || String(DEADLINE_S), faults)
  if (url && faults.length === 0) return { url, secret, build, deadlineMs, isStrict }
  throw new Failure(EXIT.usage, `${faults.join('; ')}. ${SEE_HELP}`)
}

/**
 * Every option takes the next word as its value, whatever that looks like: a commit's message may begin with a dash.
 *
 * @param {readonly string[]} args
 */
function readArgs(args) {
  /** @type {Map<string, string>} */
  const values = new Map()
  let isStrict = false
  for (let at = 0; at < args.length; at += 1) {
    const { flag, inline } = splitOnce(args[at] ?? '')
    if (args[at] === '--strict') isStrict = true
    else if (!FLAGS.includes(flag)) throw new Failure(EXIT.usage, `${unknownFlag(flag)}. ${SEE_HELP}`)
    else values.set(flag, inline ?? valueAfter(flag, args[(at += 1)]))
  }
  return { values, isStrict }
}

const FLAGS = ['--url', '--deadline', ...FIELDS.map(({ name }) => flagOf(name))]

/** `--name=value` in two. @param {string} arg @returns {{ flag: string, inline?: string }} */
function splitOnce(arg) {
  const at = arg.indexOf('=')
  return at < 0 ? { flag: arg } : { flag: arg.slice(0, at), inline: arg.slice(at + 1) }
}

/** @param {string} flag @param {string | undefined} value */
function valueAfter(flag, value) {
  if (value === undefined) throw new Failure(EXIT.usage, `${flag} needs a value. ${SEE_HELP}`)
  return value
}

/** @param {string} flag */
function unknownFlag(flag) {
  if (flag === '--secret') return 'the secret is read from BUILDLINE_SECRET alone: a flag would show in process lists'
  if (!flag.startsWith('--')) return 'there is a word that belongs to no option; quote values with blanks'
  return `there is no option ${quoted(flag)}; the nearest is ${nearest(flag, [...FLAGS, '--strict'])}`
}

// No fault quotes the address: people paste the one that has the secret in it.
/** @param {string} text @param {string[]} faults @returns {URL | null} */
function readUrl(text, faults) {
  const url = parseUrl(text)
  const source = sourceOf('url')
  if (text === '') faults.push(`${source} is not set: the bot's address, such as https://bot.example`)
  else if (!url) faults.push(`${source} is no http(s) address`)
  else if (url.username || url.password || url.search || url.hash || url.pathname.includes(`${DOOR}/`)) {
    faults.push(`${source} holds more than the bot's address: the secret belongs in BUILDLINE_SECRET`)
  }
  return url
}

/** The door below the bot's address, which may name it already. @param {string} text */
function parseUrl(text) {
  try {
    const url = new URL(text)
    const path = url.pathname.replace(/\/+$/, '')
    url.pathname = path.endsWith(DOOR) ? path : `${path}${DOOR}`
    return /^https?:$/.test(url.protocol) ? url : null
  } catch {
    return null
  }
}

/** @param {string} text @param {string[]} faults */
function readDeadlineMs(text, faults) {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0
  const isPossible = seconds >= 1 && seconds <= DEADLINE_S_MAX
  if (!isPossible) faults.push(`--deadline is no whole number of seconds from 1 to ${DEADLINE_S_MAX}`)
  return seconds * 1000
}
