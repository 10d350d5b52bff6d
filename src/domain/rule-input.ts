import type { FieldFault } from './project.ts'
import { canCoverBranch } from './pattern.ts'
import { fieldOf, isRecord, saysNothing, textOf } from './raw-values.ts'

/** A notification rule as somebody filled it in. */
export interface RuleInput {
  notifier: string
  /** null: as it is */
  target: 'all' | 'committer' | null
  /** null: every branch */
  branch: string | null
  /** null: as it is */
  branchMatch: 'exact' | 'wildcard' | 'regex' | null
  /** all that the rule shall select */
  events: readonly string[]
  /** left out or null: as it is; those of another notifier are not kept */
  options: { [name in OptionName]?: string | null }
}

type OptionName = (typeof OPTION_NAMES)[number]

const OPTION_NAMES = ['key', 'url', 'room'] as const

type Raw = Record<string, unknown>

/** What makes the rule none at all. @param field where it stands. @param after the rule in CI's names */
export function ruleFaults(
  field: string,
  before: Raw | null,
  after: Raw,
  { notifier, events }: RuleInput,
): FieldFault[] {
  const faults = [...branchFaults(field, before, after)]
  if (notifier.trim() === '') faults.push({ field: `${field}.notifier`, reason: 'is empty' })
  if (events.every((event) => event.trim() === ''))
    faults.push({ field: `${field}.build_statuses`, reason: 'needs at least one event' })
  return faults
}

/** The branch that CI has already may stay, whatever it is. */
function branchFaults(field: string, before: Raw | null, after: Raw): FieldFault[] {
  const isSame = ['branch', 'branch_match'].every((name) => before?.[name] === after[name])
  const branch = textOf(after['branch'])
  if (isSame || branch === null || canCoverBranch(branch, textOf(after['branch_match']))) return []
  return [{ field: `${field}.branch`, reason: COVERS_NO_BRANCH }]
}

export const COVERS_NO_BRANCH =
  'can match nothing, since Git allows no such name; choose wildcard or regex if it is a pattern'

/** The rule in CI's names. @param before the rule that it replaces: what the input does not say stays, unknown fields too */
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

/** As a rule names it; empty where it names none. */
export const notifierOf = (rule: unknown): string => textOf(fieldOf(rule, 'notifier')) ?? ''

/** CI names it `target` where it answers; a rule that has the request's name keeps that. */
const targetField = (before: Raw | null): string => (before && 'email_target' in before ? 'email_target' : 'target')

// Nothing and an empty text both mean every branch: whichever is there stays, and a new rule says nothing.
const branchFields = (before: Raw | null, branch: string | null): Raw =>
  branch === null && !before?.['branch'] ? {} : { branch }

function optionFields(before: Raw | null, notifier: string, options: RuleInput['options']): Raw {
  const given = OPTION_NAMES.flatMap((name) => (saysNothing(options[name]) ? [] : [[name, options[name]] as const]))
  const old = before?.['options']
  const isSame = textOf(before?.['notifier'])?.trim().toLowerCase() === notifier.trim().toLowerCase()
  if (given.length === 0 && (isSame || !isRecord(old))) return {}
  return { options: { ...(isRecord(old) ? keptOptions(old, isSame) : {}), ...Object.fromEntries(given) } }
}

// The key of one service is no other's business.
const keptOptions = (old: Raw, isSame: boolean): Raw =>
  isSame ? old : Object.fromEntries(Object.entries(old).filter(([name]) => !OPTION_NAMES.some((own) => own === name)))
