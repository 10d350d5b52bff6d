import type { FieldFault } from '../ci-project/project.ts'
import { canCoverBranch } from './pattern.ts'
import { fieldOf, isNullish, textOf } from '../../lib/raw-values.ts'
import { isRecord } from '../../lib/json.ts'

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

/** The faults of a changed rule. @param field its place, for messages. @param after the rule with CI's field names */
export function ruleFaults(
  field: string,
  before: Raw | null,
  after: Raw,
  { notifier, events }: RuleInput,
): FieldFault[] {
  const faults = branchFaults(field, before, after)
  if (notifier.trim() === '') faults.push({ field: `${field}.notifier`, reason: 'is empty' })
  if (events.every((event) => event.trim() === ''))
    faults.push({ field: `${field}.build_statuses`, reason: 'needs at least one event' })
  return faults
}

/** An unchanged branch is not checked: CI has accepted it already. */
function branchFaults(field: string, before: Raw | null, after: Raw): FieldFault[] {
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

/** The project without the rules of these notifiers. */
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
