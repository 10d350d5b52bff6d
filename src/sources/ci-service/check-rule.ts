import { canCoverBranch, matchBranch, PATTERN_CHARS_MAX } from '../../domain/rules/pattern.ts'
import { textOf, fieldOf, listOf } from '../../lib/raw-values.ts'
import { COVERS_NO_BRANCH, notifierOf, type FieldFault } from '../../domain/rules/rule.ts'
import { isRecord } from '../../lib/json.ts'

/** The longest key, address, room or name that is sent, in characters. */
export const LINE_CHARS_MAX = 1_000

type Rule = Readonly<Record<string, unknown>>

/**
 * Checks a rule, in the form of CI's answers, before it is sent. `field` is a path within the rule, such as
 * `options.key`. `update` accepts words that CI itself may have stored. Source: interface, "Notification rule".
 */
export function checkRule(rule: Rule, request: 'create' | 'update'): FieldFault[] {
  return [
    ...notifierFaults(rule['notifier']),
    ...targetFaults(rule, request),
    ...branchFaults(rule, request),
    ...eventFaults(rule['build_statuses'], request),
    ...optionFaults(rule, request),
  ]
}

/** The same for a rule at a place in the list of rules. An item that is not a rule has no faults. */
export const checkRuleAt = (at: number, rule: unknown, request: 'create' | 'update'): FieldFault[] =>
  isRecord(rule)
    ? checkRule(rule, request).map(({ field, reason }) => ({ field: `notification_rules[${at}].${field}`, reason }))
    : []

/** Checks a text of one line. A missing text has no fault. */
function lineFaults(field: string, value: unknown, charsMax: number): FieldFault[] {
  if (value === undefined || value === null) return []
  if (typeof value !== 'string') return [{ field, reason: 'must be text' }]
  return value.length > charsMax ? [{ field, reason: `has more than ${charsMax} characters` }] : []
}

/** Whether RE2 does not accept the regex, or it is too large to be matched in time. */
const isBrokenRegex = (pattern: string): boolean => matchBranch(pattern, 'regex', 'main') === 'invalid-pattern'

function notifierFaults(notifier: unknown): FieldFault[] {
  if (isBlank(notifier)) return [{ field: 'notifier', reason: 'is required' }]
  return lineFaults('notifier', notifier, LINE_CHARS_MAX)
}

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '')

export const TARGETS = ['all', 'committer'] as const

function targetFaults(rule: Rule, request: 'create' | 'update'): FieldFault[] {
  return ['target', 'email_target'].flatMap((field) => {
    const value = rule[field]
    if (request === 'update' || isBlank(value)) return lineFaults(field, value, LINE_CHARS_MAX)
    return TARGETS.some((target) => target === value) ? [] : [{ field, reason: 'must be all or committer' }]
  })
}

export const MATCHES = ['exact', 'wildcard', 'regex'] as const

function branchFaults({ branch, branch_match: match }: Rule, request: 'create' | 'update'): FieldFault[] {
  const faults = lineFaults('branch', branch, PATTERN_CHARS_MAX)
  const isKnown = isBlank(match) || MATCHES.some((one) => one === match)
  if (!isKnown) faults.push({ field: 'branch_match', reason: 'must be exact, regex or wildcard' })
  if (faults.length > 0 || typeof branch !== 'string' || branch === '') return faults
  if (match === 'regex')
    return isBrokenRegex(branch) ? [{ field: 'branch', reason: 'is not a valid regular expression (RE2)' }] : []
  const isPossible = request === 'update' || canCoverBranch(branch, textOf(match))
  return isPossible ? [] : [{ field: 'branch', reason: COVERS_NO_BRANCH }]
}

const EVENTS = ['started', 'failed', 'success', 'recovered'] as const

function eventFaults(events: unknown, request: 'create' | 'update'): FieldFault[] {
  const field = 'build_statuses'
  if (!Array.isArray(events) && !isBlank(events)) return [{ field, reason: 'must be a list' }]
  const list: readonly unknown[] = Array.isArray(events) ? events : []
  const unknown = list.findIndex((event) => !EVENTS.some((one) => one === event))
  if (request === 'create' && unknown >= 0) {
    return [{ field: `${field}[${unknown}]`, reason: `must be one of ${EVENTS.join(', ')}` }]
  }
  return list.length > 0 ? [] : [{ field, reason: 'at least one event is needed' }]
}

function optionFaults(rule: Rule, request: 'create' | 'update'): FieldFault[] {
  const { options } = rule
  if (!isBlank(options) && !isRecord(options)) return [{ field: 'options', reason: 'must be an object' }]
  const given = optionsGiven(rule, request)
  const faults = OPTIONS.flatMap((name) => lineFaults(`options.${name}`, given[name], LINE_CHARS_MAX))
  const isAddressed = faults.length === 0 && rule['notifier'] === 'webhook' && !isBlank(given['url'])
  if (isAddressed && !isHttpUrl(given['url'])) {
    faults.push({ field: 'options.url', reason: 'must be an http or https address' })
  }
  const missing = missingOptions(rule, request).map((name) => ({
    field: `options.${name}`,
    reason: `${textOf(rule['notifier'])?.trim().toLowerCase()} needs a ${name}`,
  }))
  return [...faults, ...missing]
}

const OPTIONS = ['key', 'url', 'room', 'domain'] as const

function optionsGiven({ notifier, options }: Rule, request: 'create' | 'update'): Rule {
  const flat = isRecord(options) ? options : {}
  const nested = request === 'update' ? flat[nestedNameOf(notifier) ?? ''] : undefined
  return isRecord(nested) ? { ...flat, ...nested } : flat
}

const isHttpUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '')

/** The options that a rule (in the form of CI's answers) lacks and its notifier needs, by their names in the request. */
export function missingOptions(rule: Rule, request: 'create' | 'update'): string[] {
  const { notifier } = rule
  if (typeof notifier !== 'string') return []
  const given = optionsGiven(rule, request)
  return (optionsNeeded(notifier) ?? []).flatMap((name) => {
    const named = request === 'update' ? updateNameOf(notifier, name) : name
    return isBlank(given[name]) && isBlank(given[named]) ? [named] : []
  })
}

export const LIST_ITEMS_MAX = 200

/** Checks the entries of a branch filter: full names, or regexes from `^` to `$`. Source: interface, "Project". */
export function checkFilter(branches: readonly unknown[]): FieldFault[] {
  if (branches.length > LIST_ITEMS_MAX)
    return [{ field: 'branches', reason: `has more than ${LIST_ITEMS_MAX} entries` }]
  return branches.flatMap((entry, at) => entryFaults(`branches[${at}]`, entry))
}

function entryFaults(field: string, entry: unknown): FieldFault[] {
  if (typeof entry !== 'string') return [{ field, reason: 'must be text' }]
  if (entry.trim() === '') return [{ field, reason: 'is empty' }]
  const faults = lineFaults(field, entry, PATTERN_CHARS_MAX)
  const [begins, ends] = [entry.startsWith('^'), entry.endsWith('$')]
  if (begins !== ends) faults.push({ field, reason: 'a regular expression must start with ^ and end with $' })
  const isRegex = faults.length === 0 && begins
  if (isRegex && isBrokenRegex(entry)) faults.push({ field, reason: 'is not a valid regular expression (RE2)' })
  return faults
}

// What CI knows about each notifier. Source: interface, "Options needed per notifier", and the options of E4.

type OptionName = 'key' | 'url' | 'room'

/** The options that a rule needs; undefined for a notifier outside the interface. */
const optionsNeeded = (notifier: string): readonly OptionName[] | undefined => NEEDED.get(notifier.trim().toLowerCase())

const NEEDED = new Map<string, readonly OptionName[]>([
  ['email', []],
  ['slack', ['key']],
  ['webhook', ['url']],
  ['campfire', ['url', 'key', 'room']],
  ['flowdock', ['key']],
  ['hipchat', ['key', 'room']],
  ['grove', ['key']],
])

/**
 * The notifiers that CI does not know, if it refused an update because of one: those whose places in the list of rules
 * it names, else all that the interface does not have.
 */
export function unknownNotifiers(reason: string | null, rules: readonly unknown[]): string[] {
  if (reason === null || !/notifier/i.test(reason)) return []
  const places = [...reason.matchAll(/notification_rules\W{1,2}(\d+)\W{1,2}notifier/g)].map(([, at]) => Number(at))
  const named = rules.filter((_, at) => places.includes(at)).map(notifierOf)
  const unlisted = rules.map(notifierOf).filter((notifier) => optionsNeeded(notifier) === undefined)
  return [...new Set(named.length > 0 ? named : unlisted)].filter((notifier) => notifier !== '')
}

/** The name under which an update nests a notifier's options; null if it does not nest them. */
export function nestedNameOf(notifier: unknown): string | null {
  const name = typeof notifier === 'string' ? notifier.trim().toLowerCase() : ''
  return (NEEDED.get(name)?.length ?? 0) > 0 ? name : null
}

/** The name in an update for the option that is called `name` in CI's answers. */
export const updateNameOf = (notifier: string, name: string): string =>
  notifier.trim().toLowerCase() === 'campfire' && name === 'url' ? 'domain' : name

/** The path of Buildline's webhook. The host is not compared: Buildline may be behind a proxy. */
const OUR_PATH = /\/webhooks\/builds(?:\/[^/]*)?\/?$/

/** The notification rules of a project whose address has Buildline's path, with that address. It contains the secret. */
export const ourRules = (raw: Record<string, unknown>): { rule: unknown; url: URL }[] =>
  listOf(fieldOf(raw, 'notification_rules')).flatMap((rule) => {
    const options = fieldOf(rule, 'options')
    const address = textOf(fieldOf(options, 'url')) ?? textOf(fieldOf(fieldOf(options, 'webhook'), 'url'))
    const url = address === null ? null : URL.parse(address)
    return url && OUR_PATH.test(url.pathname) ? [{ rule, url }] : []
  })
