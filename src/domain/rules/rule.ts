import { coversBranch, matchBranch, canCoverBranch } from './pattern.ts'
import { fieldOf, isNullish, textOf } from '../../lib/raw-values.ts'
import { isRecord } from '../../lib/json.ts'

/** A notification rule as CI stores it; unknown words stay as they are. */
export interface NotificationRule {
  notifier: string
  target: string | null
  /** null or empty: every branch */
  branch: string | null
  /** `exact`, `regex`, `wildcard`; null if CI did not say */
  branchMatch: string | null
  /** CI's `build_statuses`: `started`, `failed`, `success`, `recovered`, or words outside the list */
  buildStatuses: readonly string[]
}

/** A channel's rule: a notification rule, reduced to what a channel can select. */
export interface ChannelRule {
  branch: string | null
  branchMatch: string | null
  /** the selected events; `every` also covers stopped builds and unknown words */
  events: readonly string[] | 'every'
}

/** The events that a channel can select by name. `broken` and `recovered` are computed, never delivered. */
export const RULE_EVENTS = ['started', 'failed', 'broken', 'success', 'recovered', 'waiting', 'stopped'] as const

/** The events that `changes` is short for: the branch turned red, or green again. */
export const CHANGES = ['broken', 'recovered'] as const

/** What an attempt did to its branch. */
export type Change = (typeof CHANGES)[number]

/** Everything that a rule can select. Only `every` selects `unknown`. */
export type Selectable = (typeof RULE_EVENTS)[number] | 'unknown'

/** The project's own rules with the notifier `slack`, as channel rules. */
export const slackRules = (rules: readonly NotificationRule[]): ChannelRule[] => rulesFor('slack', rules)

export const rulesFor = (notifier: string, rules: readonly NotificationRule[]): ChannelRule[] =>
  rules
    .filter((rule) => rule.notifier.toLowerCase() === notifier)
    .map(({ branch, branchMatch, buildStatuses }) => ({ branch, branchMatch, events: eventsOf(buildStatuses) }))

const eventsOf = (buildStatuses: readonly string[]): readonly string[] =>
  buildStatuses.map((word) => WORDS.get(word.trim().toLowerCase()) ?? word)

const WORDS = new Map([
  ['started', 'started'],
  ['initiated', 'started'],
  ['testing', 'started'],
  ['failed', 'failed'],
  ['error', 'failed'],
  ['success', 'success'],
  ['succeeded', 'success'],
  ['recovered', 'recovered'],
  ['waiting', 'waiting'],
  ['requires_approval', 'waiting'],
  ['requires approval', 'waiting'],
  ['stopped', 'stopped'],
])

/** The result of one rule for one build event: the first condition that failed, or `selects`. */
export type RuleVerdict = 'selects' | 'branch-not-matched' | 'branch-unknown' | 'pattern-invalid' | 'event-not-selected'

export interface RuleResult {
  rule: ChannelRule
  /** the rule's owner: the project in CI, the channel, or the subscriptions file */
  from: 'ci' | 'channel' | 'file'
  verdict: RuleVerdict
}

export function matchRule(rule: ChannelRule, branch: string | null, selectable: readonly Selectable[]): RuleVerdict {
  const match = matchBranch(rule.branch, rule.branchMatch, branch)
  if (match === 'invalid-pattern') return 'pattern-invalid'
  if (match === 'unknown-branch') return 'branch-unknown'
  if (!coversBranch(match)) return 'branch-not-matched'
  const { events } = rule
  return selectable.some((event) => events === 'every' || events.includes(event)) ? 'selects' : 'event-not-selected'
}

// The four statuses that CI offers. CI's rules that select all four select every event.
export const EVERY_BUILD_STATUS = ['started', 'failed', 'success', 'recovered'] as const

/** Whether these rules together select every event on this branch, so that stopped builds and unknown words are news. */
export const selectEverything = (rules: readonly ChannelRule[], branch: string | null): boolean =>
  leftAway(rules, branch).length === 0

/** The events that none of these rules selects on this branch. Branch null: only rules for every branch count. */
export function leftAway(rules: readonly ChannelRule[], branch: string | null): string[] {
  const covering = rules.filter((rule) => coversBranch(matchBranch(rule.branch, rule.branchMatch, branch)))
  const selected = covering.flatMap(({ events }) => (events === 'every' ? EVERY_BUILD_STATUS : events))
  return EVERY_BUILD_STATUS.filter((word) => !selected.includes(word))
}

/** A notification rule as a person entered it in the form. */
export interface RuleInput {
  notifier: string
  /** null: unchanged */
  target: 'all' | 'committer' | null
  /** null: every branch */
  branch: string | null
  /** null: unchanged */
  branchMatch: 'exact' | 'wildcard' | 'regex' | null
  /** every event that the rule selects */
  events: readonly string[]
  /** left out or null: unchanged; if the notifier changes, the old ones are dropped */
  options: { [name in OptionName]?: string | null }
}

type OptionName = (typeof OPTION_NAMES)[number]

const OPTION_NAMES = ['key', 'url', 'room'] as const

type Raw = Record<string, unknown>

/**
 * The fault of a changed rule's branch. An unchanged branch is not checked: CI has accepted it already.
 * @param field the rule's place, for messages
 * @param after the rule with CI's field names
 */
export function branchFaults(field: string, before: Raw | null, after: Raw): FieldFault[] {
  const isSame = ['branch', 'branch_match'].every((name) => before?.[name] === after[name])
  const branch = textOf(after['branch'])
  if (isSame || branch === null || canCoverBranch(branch, textOf(after['branch_match']))) return []
  return [{ field: `${field}.branch`, reason: COVERS_NO_BRANCH }]
}

export const COVERS_NO_BRANCH =
  'can match nothing, since Git does not allow such a name; choose wildcard or regex if it is a pattern'

/** The rule with CI's field names. @param before the rule that it replaces: fields that the input lacks stay */
export function ruleOf(before: Raw | null, { notifier, target, branch, branchMatch, events, options }: RuleInput): Raw {
  return {
    ...before,
    notifier,
    ...(target && { [targetField(before)]: target }),
    ...branchFields(before, branch || null),
    ...(branchMatch && { branch_match: branchMatch }),
    build_statuses: [...events],
    ...optionFields(before, notifier, options),
  }
}

export const withoutRulesOf = (notifiers: readonly string[], raw: Raw): Raw =>
  notifiers.length === 0 || !Array.isArray(raw[RULES])
    ? raw
    : { ...raw, [RULES]: raw[RULES].filter((rule) => !notifiers.includes(notifierOf(rule))) }

const RULES = 'notification_rules'

/** A rule's notifier; empty if it names none. */
export const notifierOf = (rule: unknown): string => textOf(fieldOf(rule, 'notifier')) ?? ''

/** CI's answers call the field `target`. A rule that has the request's name, `email_target`, keeps that name. */
const targetField = (before: Raw | null): string => (before && 'email_target' in before ? 'email_target' : 'target')

// A missing and an empty branch both mean every branch: an old rule stays as it is, and a new one has no branch.
const branchFields = (before: Raw | null, branch: string | null): Raw =>
  branch === null && !before?.['branch'] ? {} : { branch }

function optionFields(before: Raw | null, notifier: string, options: RuleInput['options']): Raw {
  const given = OPTION_NAMES.flatMap((name) => (isNullish(options[name]) ? [] : [[name, options[name]] as const]))
  const old = before?.['options']
  const isSame = textOf(before?.['notifier'])?.trim().toLowerCase() === notifier.trim().toLowerCase()
  if (given.length === 0 && (isSame || !isRecord(old))) return {}
  return { options: { ...(isRecord(old) ? keptOptions(old, isSame) : {}), ...Object.fromEntries(given) } }
}

// If the notifier changes, its key, URL and room are dropped: one service must not get another one's key.
const keptOptions = (old: Raw, isSame: boolean): Raw =>
  isSame ? old : Object.fromEntries(Object.entries(old).filter(([name]) => !OPTION_NAMES.some((own) => own === name)))

/** The fault in one field of a request. Its reason quotes no value. */
export interface FieldFault {
  /** `notification_rules[0].options.key` */
  field: string
  /** `slack needs a key` */
  reason: string
}
