import type { ShownRule } from '../../domain/ci-project/masked-project.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { andList, firstOf, outside } from '../../slack/messages/build.ts'
import { BRANCH_CHARS_MAX, cut, MESSAGE_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { topOf, type Difference } from '../../domain/ci-project/project-change.ts'
import { MASK, projectField, type ProjectField } from '../../domain/ci-project/project-fields.ts'
import { line, type Part } from '../../slack/messages/answer.ts'

// Describes a project's settings. All texts are markup.

/** A list in one line names at most this many. */
const NAMED_MAX = 20

/** `Slack: failed and fixed builds of release/*`. */
export function ruleWords({
  notifier,
  target,
  branch,
  branchMatch,
  events,
}: Omit<ShownRule, 'at' | 'optionNames'>): string {
  const whom = target === 'committer' ? ' to the committer' : ''
  const where = branch === null ? 'every branch' : `${code(branch)}${matchWords(branchMatch)}`
  return `${notifierWord(notifier)}${whom}: ${eventWords(events)} of ${where}`
}

const notifierWord = (notifier: string | null): string =>
  notifier === null
    ? 'CI names no service'
    : (NOTIFIERS.get(notifier.toLowerCase()) ?? outside(notifier, WORD_CHARS_MAX))

const NOTIFIERS = new Map([
  ['email', 'E-mail'],
  ['slack', 'Slack'],
  ['webhook', 'Webhook'],
  ['campfire', 'Campfire'],
  ['flowdock', 'Flowdock'],
  ['hipchat', 'HipChat'],
  ['grove', 'Grove'],
  ['repository_status', 'Status at the repository host'],
])

/** ``a script, S3 and `ftp_deployment` ``: how something is deployed; empty if CI does not say. */
export const deploymentTypes = (types: readonly string[]): string =>
  andList(types.map((type) => DEPLOYMENTS.get(type.toLowerCase()) ?? code(type)))

const DEPLOYMENTS = new Map([
  ['script_deployment', 'a script'],
  ['elastic_beanstalk_deployment', 'Elastic Beanstalk'],
  ['s3_deployment', 'S3'],
  ['aws_code_deploy_deployment', 'AWS CodeDeploy'],
  ['app_engine_deployment', 'App Engine'],
  ['heroku_deployment', 'Heroku'],
])

/** The events that CI's own rules can select. Source: interface, "Notification rule". */
export const EVENT_WORDS: ReadonlyMap<string, string> = new Map([
  ['started', 'started'],
  ['failed', 'failed'],
  ['success', 'passed'],
  ['recovered', 'fixed'],
])

function eventWords(events: readonly string[]): string {
  if (events.length === 0) return 'no builds'
  if ([...EVENT_WORDS.keys()].every((event) => events.includes(event))) return 'all builds'
  return `${andList(events.map((event) => EVENT_WORDS.get(event) ?? outside(event, WORD_CHARS_MAX)))} builds`
}

const matchWords = (match: string | null): string =>
  match === null || match === 'exact' || match === 'wildcard' ? '' : ` (${outside(match, WORD_CHARS_MAX)})`

/** As code, a name or a command. */
export const code = (text: string, charsMax = BRANCH_CHARS_MAX): string =>
  codeSpan(cut(toLine(text), charsMax)) || '(empty)'

export const command = (text: string): string => code(text, MESSAGE_CHARS_MAX)

/** `a, b and c`, or `a, b and 3 more`. */
export function listed(names: readonly string[]): string {
  const words = names.map((name) => code(name))
  return andList(firstOf(words, NAMED_MAX, countMore))
}

const countMore = (left: number): string => `${left} more`

export const andMore = (left: number): string => `… and ${left} more`

/** The words for a field of CI's, such as `notification_rules[2].options.key`. */
export function fieldWords(field: string): string {
  const [, top = field, place, rest = ''] = /^([^.[]+)(?:\[(\d+)\])?(.*)$/.exec(field) ?? []
  const { words, item }: Pick<ProjectField, 'words' | 'item'> = projectField(top) ?? { words: code(top) }
  if (top === 'environment_variables' && rest.startsWith('.')) return `variable ${code(rest.slice(1))}`
  const which = place === undefined ? words : `${item ?? words} ${Number(place) + 1}`
  return rest === '' ? which : `${which}: ${code(rest.replace(/^\./, ''))}`
}

/** At most this many of the fields that CI does not show are named. */
const UNSHOWN_MAX = 10

/** ``setup commands and rule 2: `options.key` ``: what CI does not show of a project. */
export const unshownWords = (fields: readonly string[]): string =>
  andList(firstOf(fields.map(fieldWords), UNSHOWN_MAX, countMore))

/** `branches, teams and notification rules`: the fields of a project, without what is in them. */
export const fieldsWords = (fields: readonly string[]): string =>
  andList([...new Set(fields.map((field) => fieldWords(topOf(field))))])

/** ``CI does not know the notifier `pigeon`.`` */
export const unknownNotifierWords = (notifiers: readonly string[]): string =>
  `CI does not know the ${notifiers.length === 1 ? 'notifier' : 'notifiers'} ${listed(notifiers)}.`

/** At most this many differences are shown, and at most this many lines of each side. */
const DIFFERENCES_MAX = 20
const LINES_MAX = 10

/** Each change with its value before and after. Of a secret, it only says that it changes. */
export function differenceParts(differences: readonly Difference[]): Part[] {
  const more = (left: number) => [line(andMore(left))]
  return firstOf(differences.map(partsOf), DIFFERENCES_MAX, more).flat()
}

const partsOf = ({ field, before, after, isSecret }: Difference): Part[] => [
  line(`*${fieldWords(field)}*${isSecret ? ` ${secretWords(before, after)}` : ''}`),
  ...(isSecret ? [] : [...linesOf('before', before), ...linesOf('after', after)].map(line)),
]

function secretWords(before: string | null, after: string | null): string {
  if (before === null) return `set to ${MASK}`
  return after === null ? `${MASK} removed` : `${MASK} becomes another ${MASK}`
}

const SIGNS = { before: ':heavy_minus_sign:', after: ':heavy_plus_sign:' } as const

function linesOf(side: 'before' | 'after', text: string | null): string[] {
  if (text === null) return []
  return firstOf(text.split('\n').map(command), LINES_MAX, andMore).map((one) => `${SIGNS[side]} ${one}`)
}
