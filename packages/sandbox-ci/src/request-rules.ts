import { z } from 'zod'
import { faultReasons } from '../../lib/reasons.ts'
import { RULE_STATUSES } from './state.ts'
import type { NotificationRule } from './state.ts'
import type { Switches } from './switches.ts'

export type RulesRead = { kind: 'rules'; rules: NotificationRule[] } | { kind: 'invalid'; reasons: string[] }

/** The form of a rule in a request. It differs between create (E3) and update (E4). */
export interface RuleSpelling {
  targetNames: readonly ('target' | 'email_target')[]
  /** `nested`: `{slack: {key}}`; `flat`: `{key}` */
  options: readonly ('nested' | 'flat')[]
}

export const createSpelling = (switches: Switches): RuleSpelling => ({
  targetNames: switches.createRuleNames === 'any' ? ['target', 'email_target'] : [switches.createRuleNames],
  options: ['flat'],
})

export const updateSpelling = (switches: Switches): RuleSpelling => ({
  targetNames: ['email_target'],
  options: switches.updateOptionsForm === 'any' ? ['nested', 'flat'] : ['nested'],
})

const EVENT_WORDS = [...RULE_STATUSES, 'waiting'] as const
const target = z.enum(['all', 'committer']).nullish()

const rulesSchema = z.array(
  z.object({
    notifier: z.string().min(1),
    target,
    email_target: target,
    branch: z.string().nullish(),
    branch_match: z.enum(['exact', 'regex', 'wildcard']).nullish(),
    build_statuses: z.array(z.enum(EVENT_WORDS)).nullish(),
    options: z.record(z.string(), z.unknown()).nullish(),
  }),
)
type RuleRequest = z.infer<typeof rulesSchema>[number]

/** Reads the rules of a request into the form of a response, or gives every reason why they are invalid. */
export function readRules(raw: unknown, spelling: RuleSpelling, switches: Switches): RulesRead {
  const parsed = rulesSchema.safeParse(raw)
  if (!parsed.success) return { kind: 'invalid', reasons: faultReasons(parsed.error, raw).map(inRules) }
  const rules = parsed.data.map((rule) => toRule(rule, spelling, switches))
  const reasons = rules.flatMap((rule, index) =>
    ruleFaults(rule, switches).map((fault) => inRules(`${index}.${fault}`)),
  )
  return reasons.length > 0 ? { kind: 'invalid', reasons } : { kind: 'rules', rules }
}

const inRules = (reason: string): string =>
  reason.startsWith('the body') ? reason.replace('the body', 'notification_rules') : `notification_rules.${reason}`

function toRule(request: RuleRequest, spelling: RuleSpelling, switches: Switches): NotificationRule {
  const branch = request.branch ?? null
  return {
    notifier: request.notifier,
    target: spelling.targetNames.map((name) => request[name]).find((value) => value != null) ?? 'all',
    branch,
    branch_match: request.branch_match ?? (branch?.includes('*') ? 'wildcard' : 'exact'),
    build_statuses: request.build_statuses ?? (switches.ruleWithoutStatuses === 'refuse' ? [] : [...RULE_STATUSES]),
    options: readOptions(request.notifier, request.options ?? {}, spelling.options),
  }
}

function readOptions(notifier: string, raw: Record<string, unknown>, forms: RuleSpelling['options']) {
  const nested = forms.includes('nested') ? raw[notifier] : undefined
  const flat = forms.includes('flat') ? raw : {}
  const given = { ...flat, ...(typeof nested === 'object' ? nested : {}) }
  // A response has only key, url and room, so an update's `domain` becomes `url`.
  const named = Object.entries(given).map(([name, value]) => [name === 'domain' ? 'url' : name, value] as const)
  return Object.fromEntries(
    named.filter((field): field is [string, string] => ['key', 'url', 'room'].includes(field[0]) && isText(field[1])),
  )
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const OPTIONS_NEEDED = new Map<string, readonly string[]>([
  ['email', []],
  ['slack', ['key']],
  ['webhook', ['url']],
  ['campfire', ['url', 'key', 'room']],
  ['flowdock', ['key']],
  ['hipchat', ['key', 'room']],
  ['grove', ['key']],
])

function ruleFaults(rule: NotificationRule, switches: Switches): string[] {
  const needed = OPTIONS_NEEDED.get(rule.notifier)
  const faults = (needed ?? [])
    .filter((name) => !rule.options[name])
    .map((name) => `options: ${rule.notifier} needs ${name}`)
  if (rule.build_statuses.length === 0) faults.push('build_statuses: at least one build event must be selected')
  if (!needed && switches.unknownNotifiers === 'refuse') faults.push('notifier: not a known notifier')
  if (rule.notifier === 'webhook' && rule.options['url'] && !isHttpUrl(rule.options['url'])) {
    faults.push('options: url must be an http or https address')
  }
  return faults
}

const isHttpUrl = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '')
