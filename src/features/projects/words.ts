import { filterInWords, type BranchFilter } from '../../domain/branch-filter.ts'
import type { ShownRule } from '../../domain/masked-project.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { outside } from '../../slack/messages/build.ts'
import { BRANCH_CHARS_MAX, cut, MESSAGE_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'

// A project's settings in words. All of it is markup.

/** Of a list in one line, so many are named. */
export const NAMED_MAX = 20

/** `builds main and ^release/.*$`; `builds every branch but wip` */
export function filterWords(filter: BranchFilter): string {
  const words = filterInWords(filter)
  switch (words.kind) {
    case 'all':
      return 'builds every branch'
    case 'only':
      return `builds ${listed(words.entries)}, and no other branch`
    case 'not':
      return `builds every branch but ${listed(words.entries)}`
    case 'unclear':
      return `${listed(words.entries)}, and CI does not say whether it builds these or all others`
  }
}

/** `Slack: failed and fixed builds of release/*`. */
export function ruleWords({ notifier, target, branch, branchMatch, events }: ShownRule): string {
  const whom = target === 'committer' ? ' to the committer' : ''
  const where = branch === null ? 'every branch' : `${code(branch)}${matchWords(branchMatch)}`
  return `${notifierWord(notifier)}${whom}: ${eventWords(events)} of ${where}`
}

export const notifierWord = (notifier: string | null): string =>
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

/** ``a script, S3 and `ftp_deployment` ``: how something is deployed; empty where CI does not say. */
export const deploymentTypes = (types: readonly string[]): string =>
  and(types.map((type) => DEPLOYMENTS.get(type.toLowerCase()) ?? code(type)))

const DEPLOYMENTS = new Map([
  ['script_deployment', 'a script'],
  ['elastic_beanstalk_deployment', 'Elastic Beanstalk'],
  ['s3_deployment', 'S3'],
  ['aws_code_deploy_deployment', 'AWS CodeDeploy'],
  ['app_engine_deployment', 'App Engine'],
  ['heroku_deployment', 'Heroku'],
])

export const EVENTS: readonly [event: string, word: string][] = [
  ['started', 'started'],
  ['failed', 'failed'],
  ['success', 'passed'],
  ['recovered', 'fixed'],
  ['waiting', 'waiting'],
]

const ALL_EVENTS = ['started', 'failed', 'success', 'recovered']

function eventWords(events: readonly string[]): string {
  if (events.length === 0) return 'no builds'
  if (ALL_EVENTS.every((event) => events.includes(event))) return 'all builds'
  const words = new Map(EVENTS)
  return `${and(events.map((event) => words.get(event) ?? outside(event, WORD_CHARS_MAX)))} builds`
}

const matchWords = (match: string | null): string =>
  match === null || match === 'exact' || match === 'wildcard' ? '' : ` (${outside(match, WORD_CHARS_MAX)})`

/** As code, a name or a command. */
export const code = (text: string, charsMax = BRANCH_CHARS_MAX): string =>
  codeSpan(cut(toLine(text), charsMax)) || '(empty)'

export const command = (text: string): string => code(text, MESSAGE_CHARS_MAX)

/** `a, b and c`, with what is left counted. */
export function listed(names: readonly string[]): string {
  const left = names.length - NAMED_MAX
  const shown = names.slice(0, NAMED_MAX).map((name) => code(name))
  return and(left > 0 ? [...shown, `${left} more`] : shown)
}

export const and = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** What a field of CI's is called, such as `notification_rules[2].options.key`. */
export function fieldWords(field: string): string {
  const [, top = field, place, rest = ''] = /^([^.[]+)(?:\[(\d+)\])?(.*)$/.exec(field) ?? []
  const name = FIELDS.get(top) ?? code(top)
  if (top === 'environment_variables' && rest.startsWith('.')) return `variable ${code(rest.slice(1))}`
  const which = place === undefined ? name : `${SINGLE.get(top) ?? name} ${Number(place) + 1}`
  return rest === '' ? which : `${which}: ${code(rest.replace(/^\./, ''))}`
}

const FIELDS = new Map([
  ['branches', 'branches'],
  ['branch_match', 'which branches are built'],
  ['build_on_pr_only', 'only pull requests'],
  ['setup_commands', 'setup commands'],
  ['environment_variables', 'environment variables'],
  ['team_ids', 'teams'],
  ['type', 'type'],
  ['notification_rules', 'notification rules'],
  ['aes_key', 'AES key'],
  ['repository_url', 'repository'],
  ['test_pipelines', 'test commands'],
  ['more', 'more fields'],
])

const SINGLE = new Map([
  ['branches', 'branch entry'],
  ['setup_commands', 'setup command'],
  ['environment_variables', 'variable'],
  ['team_ids', 'team'],
  ['notification_rules', 'rule'],
])

/** Of what CI does not show, so many are named. */
const UNSHOWN_MAX = 10

/** ``setup commands and rule 2: `options.key` ``: what CI does not show of a project. */
export function unshownWords(fields: readonly string[]): string {
  const left = fields.length - UNSHOWN_MAX
  const words = fields.slice(0, UNSHOWN_MAX).map(fieldWords)
  return and(left > 0 ? [...words, `${left} more`] : words)
}

/** `branches, teams and notification rules`: the fields of a project, without what is in them. */
export const fieldsWords = (fields: readonly string[]): string =>
  and([...new Set(fields.map((field) => fieldWords(/^[^.[]+/.exec(field)?.[0] ?? field)))])
