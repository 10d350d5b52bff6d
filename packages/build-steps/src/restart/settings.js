// @ts-check
import { EXIT, Failure } from '../program.js'

/** @typedef {{ base: URL, apiKey: string, projectId: string, branch: string }} Settings */

/**
 * Reads all settings. Throws a Failure that names all faults at once. No fault quotes a value: it may be the key.
 *
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Settings}
 */
export function readSettings(args, env) {
  const valueOf = (/** @type {string} */ name) => env[name]?.trim() ?? ''
  const [apiKey, projectId, branch] = ['SERVICE_API_KEY', 'SERVICE_API_PROJECT_ID', 'SERVICE_API_BRANCH'].map(valueOf)
  const url = readUrlFlag(args)?.trim() || valueOf('SERVICE_API_URL')
  const base = parseBase(url)
  const faults = [
    !apiKey && 'SERVICE_API_KEY is not set',
    !projectId && 'SERVICE_API_PROJECT_ID is not set',
    projectId && !PROJECT_ID.test(projectId) && 'SERVICE_API_PROJECT_ID is not a project id: an integer or a uuid',
    !branch && 'SERVICE_API_BRANCH is not set',
    !url && "SERVICE_API_URL (or --url) is not set: the base address of CI's legacy interface has no default",
    url && !base && 'SERVICE_API_URL (or --url) is not an http(s) address without user, password and query',
  ].filter(Boolean)
  if (apiKey && projectId && branch && base && faults.length === 0) return { base, apiKey, projectId, branch }
  throw new Failure(EXIT.usage, `${faults.join('; ')}. See --help`)
}

const PROJECT_ID = /^(?:\d{1,20}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

/** @param {readonly string[]} args @returns {string | undefined} */
function readUrlFlag(args) {
  const [flag = '', value] = args
  if (args.length === 0) return undefined
  if (args.length === 1 && flag.startsWith('--url=')) return flag.slice('--url='.length)
  if (args.length === 2 && flag === '--url') return value
  throw new Failure(EXIT.usage, 'the only options are --url <address> and --help; all else is set in the environment')
}

/** @param {string} text @returns {URL | null} */
function parseBase(text) {
  try {
    const url = new URL(text)
    const isBare = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
    return isBare && /^https?:$/.test(url.protocol) ? url : null
  } catch {
    return null
  }
}
