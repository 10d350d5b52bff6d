// @ts-check

/**
 * @typedef {'id' | 'buildId' | 'uuid' | 'time' | 'text'} FieldForm
 * @typedef {{ name: string, form: FieldForm, isNeeded?: boolean, what?: string }} Field
 */

/** Texts are cut to this many characters. The bot stores no more, and a delivery stays within its size limit. */
const TEXT_CHARS_MAX = 500

/**
 * The fields of a build: those of CI's own deliveries, and some that only a build step knows.
 *
 * @type {readonly Field[]}
 */
export const FIELDS = [
  { name: 'status', form: 'text', isNeeded: true, what: 'initiated, success, error, stopped, waiting… or any word' },
  { name: 'project_id', form: 'id', isNeeded: true, what: "the project's integer id" },
  {
    name: 'build_id',
    form: 'buildId',
    isNeeded: true,
    what: "the build's integer id; its uuid, where CI delivers that",
  },
  { name: 'project_name', form: 'text', what: 'such as acme/web' },
  { name: 'project_full_name', form: 'text', what: 'older name of project_name' },
  { name: 'branch', form: 'text' },
  { name: 'commit_id', form: 'text', what: 'the whole hash' },
  { name: 'short_commit_id', form: 'text' },
  { name: 'message', form: 'text', what: 'of the commit' },
  { name: 'committer', form: 'text' },
  { name: 'build_url', form: 'text', what: 'where "Open build" leads' },
  { name: 'commit_url', form: 'text' },
  { name: 'project_uuid', form: 'uuid', what: 'these two let people stop the build from Slack' },
  { name: 'build_uuid', form: 'uuid' },
  { name: 'started_at', form: 'time', what: '2026-03-01T14:02:00Z, or 2026-03-01 14:02:00 UTC' },
  { name: 'finished_at', form: 'time', what: 'the same' },
]

/** A line of a command's help. @param {string} variable @param {string} flag */
export const helpRow = (variable, flag) => `  ${variable.padEnd(29)}${flag.padEnd(21)}`

/** @param {readonly Field[]} fields */
export const helpRows = (fields) =>
  fields
    .map(({ name, isNeeded, what = '' }) =>
      `${helpRow(variableOf(name), flagOf(name))}${isNeeded ? 'needed: ' : ''}${what}`.trimEnd(),
    )
    .join('\n')

/** The part of a command's help about the address and the secret. */
export const helpWhere = () => `Where to:
${helpRow('BUILDLINE_URL', '--url')}needed: the bot's address, such as https://bot.example
${helpRow('BUILDLINE_SECRET', '(no flag)')}needed: one of the bot's WEBHOOK_SECRETs; sent as HTTP Basic
${helpRow('', '')}password, never in the address; a flag would show in process lists`

/** @param {string} name */
export const variableOf = (name) => `BUILDLINE_${name.toUpperCase()}`
/** @param {string} name */
export const flagOf = (name) => `--${name.replaceAll('_', '-')}`
/** @param {string} name */
export const sourceOf = (name) => `${variableOf(name)} (or ${flagOf(name)})`

/**
 * Reads the object `build` of a delivery from flags and environment. Adds each fault to `faults`.
 *
 * @param {readonly Field[]} fields
 * @param {(name: string) => string} valueOf
 * @param {string[]} faults
 */
export function readBuild(fields, valueOf, faults) {
  /** @type {Record<string, string | number>} */
  const build = {}
  for (const { name, form, isNeeded } of fields) {
    const value = valueOf(name)
    if (value === '' && isNeeded) faults.push(`${sourceOf(name)} is not set`)
    if (value === '') continue
    if (FORMS[form].pattern.test(value)) build[name] = wireForm(form, value)
    else faults.push(`${sourceOf(name)} is ${FORMS[form].otherwise}`)
  }
  return build
}

/** What the bot accepts for each form of field. @type {Record<FieldForm, { pattern: RegExp, otherwise: string }>} */
const FORMS = {
  id: { pattern: /^(?:0|[1-9]\d{0,19})$/, otherwise: 'not an integer id' },
  buildId: {
    pattern: /^(?:0|[1-9]\d{0,19}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i,
    otherwise: 'neither an integer id nor a uuid',
  },
  uuid: { pattern: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, otherwise: 'not a uuid' },
  time: {
    pattern: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s*(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?$/i,
    otherwise: 'not a time such as 2026-03-01T14:02:00Z',
  },
  text: { pattern: /^/, otherwise: 'not text' },
}

// Ids are sent as integers, as CI does. Ids too large for a double are sent as strings, which the bot accepts too.
/** @param {FieldForm} form @param {string} value */
function wireForm(form, value) {
  if (form === 'text') return Array.from(value).slice(0, TEXT_CHARS_MAX).join('')
  const isId = form === 'id' || form === 'buildId'
  return isId && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
