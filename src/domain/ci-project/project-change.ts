import { assertNever } from '../../lib/assert.ts'
import { isIdDigits } from '../ids.ts'
import { commandsOfLines } from './masked-project.ts'
import { fieldOf, listOf, isNullish, textOf, canonical } from '../../lib/raw-values.ts'
import { isRecord } from '../../lib/json.ts'
import { branchFaults, ruleOf, type RuleInput, type FieldFault } from '../rules/rule.ts'
import { isSecretName, isSecretPlace, isUnordered, MASK, withoutCredentials } from './project-fields.ts'

export type ProjectChange =
  | { what: 'builds'; onPullRequestsOnly: boolean; match: 'include' | 'exclude'; branches: readonly string[] }
  /** as `commandLines` shows them: an unchanged line keeps its command. Basic only */
  | { what: 'setup'; commands: readonly string[] }
  /** the complete new list; a value of null keeps the old value. Basic only */
  | { what: 'variables'; variables: readonly VariableInput[] }
  /** in decimal digits */
  | { what: 'teams'; ids: readonly string[] }
  | { what: 'type'; type: 'basic' | 'pro' }
  /** the rule at this place, counted from 0; null: a new one */
  | { what: 'rule'; at: number | null; rule: RuleInput }
  | { what: 'remove-rule'; at: number }

export interface VariableInput {
  name: string
  value: string | null
}

/** The changed project, or why the change is not possible. */
export type ChangeEffect =
  | { kind: 'changed'; raw: Record<string, unknown> }
  | { kind: 'faults'; faults: readonly FieldFault[] }

type Raw = Record<string, unknown>

/**
 * The project as CI sent it, with only this change: unknown fields stay, even those of a changed rule. The arguments
 * are not modified. Does not check whether CI accepts the values.
 */
export function applyChange(raw: Raw, change: ProjectChange): ChangeEffect {
  switch (change.what) {
    case 'builds':
      return changeBuilds(raw, change)
    case 'setup':
      return basicOnly(raw, SETUP) ?? unreadable(raw, SETUP) ?? changeSetup(raw, change.commands)
    case 'variables':
      return basicOnly(raw, VARIABLES) ?? changeVariables(raw, change.variables)
    case 'teams':
      return changeTeams(raw, change.ids)
    case 'type':
      return changed(raw, { type: change.type })
    case 'rule':
      return changeRule(raw, change.at, change.rule)
    case 'remove-rule':
      return removeRule(raw, change.at)
    default:
      return assertNever(change)
  }
}

const SETUP = 'setup_commands'
const VARIABLES = 'environment_variables'
const RULES = 'notification_rules'

const changed = (raw: Raw, fields: Raw): ChangeEffect => ({ kind: 'changed', raw: { ...raw, ...fields } })

const changedUnless = (faults: readonly FieldFault[], raw: Raw, fields: Raw): ChangeEffect =>
  faults.length > 0 ? { kind: 'faults', faults } : changed(raw, fields)

const fault = (field: string, reason: string): ChangeEffect => ({ kind: 'faults', faults: [{ field, reason }] })

// CI would ignore the field, so the change would only seem to be made.
const basicOnly = (raw: Raw, field: string): ChangeEffect | null =>
  textOf(raw['type'])?.trim().toLowerCase() === 'basic' ? null : fault(field, 'is only for a project of type basic')

/** A fault if the field's current value has an unknown form, in which case it could not be kept. */
const unreadable = (raw: Raw, field: string): ChangeEffect | null =>
  isNullish(raw[field]) || Array.isArray(raw[field]) ? null : fault(field, 'has an unexpected format')

const isBlank = (text: string): boolean => text.trim() === ''

type Builds = Extract<ProjectChange, { what: 'builds' }>

function changeBuilds(raw: Raw, { onPullRequestsOnly, match, branches }: Builds): ChangeEffect {
  const faults = branches.flatMap((branch, at) =>
    isBlank(branch) ? [{ field: `branches[${at}]`, reason: 'is empty' }] : [],
  )
  const fields = { build_on_pr_only: onPullRequestsOnly, branch_match: match, branches: [...branches] }
  return changedUnless(faults, raw, fields)
}

function changeSetup(raw: Raw, lines: readonly string[]): ChangeEffect {
  const { commands, faults } = commandsOfLines(lines, raw)
  return changedUnless(faults, raw, { [SETUP]: commands })
}

function changeVariables(raw: Raw, variables: readonly VariableInput[]): ChangeEffect {
  const before = listOf(raw[VARIABLES])
  const byName = new Map(before.map((variable) => [nameOf(variable), variable]))
  const faults = variables.flatMap((variable, at) => variableFaults(variable, at, variables, byName))
  // The form shows variables by name. One without a name was not shown, so the person did not remove it.
  const nameless = before.filter((variable) => nameOf(variable) === null)
  const after = [...variables.map((variable) => variableOf(variable, byName.get(variable.name))), ...nameless]
  return unreadable(raw, VARIABLES) ?? changedUnless(faults, raw, { [VARIABLES]: after })
}

/** The name as the editor sees it. */
const nameOf = (variable: unknown): string | null => textOf(fieldOf(variable, 'name'))

function variableFaults(
  { name, value }: VariableInput,
  at: number,
  all: readonly VariableInput[],
  before: ReadonlyMap<unknown, unknown>,
): FieldFault[] {
  const field = `${VARIABLES}[${at}]`
  if (isBlank(name)) return [{ field: `${field}.name`, reason: 'is empty' }]
  if (all.findIndex((other) => other.name === name) < at) return [{ field: `${field}.name`, reason: 'is used twice' }]
  if (value === null && !before.has(name))
    return [{ field: `${field}.value`, reason: 'is missing, and there is no previous value to keep' }]
  return []
}

const variableOf = ({ name, value }: VariableInput, before: unknown): unknown =>
  value === null ? before : { name, ...(isRecord(before) ? before : {}), value }

function changeTeams(raw: Raw, ids: readonly string[]): ChangeEffect {
  const faults = ids.flatMap((id, at) =>
    isIdDigits(id) ? [] : [{ field: `team_ids[${at}]`, reason: 'is not a team id' }],
  )
  const asSent = new Map(listOf(raw['team_ids']).map((id) => [textOf(id), id]))
  const teams = [...new Set(ids)].map((id) => asSent.get(id) ?? numberOf(id))
  return changedUnless(faults, raw, { team_ids: teams })
}

// Beyond 2^53 the id stays a string of digits, as in what is read from CI.
const numberOf = (digits: string): number | string => (Number.isSafeInteger(Number(digits)) ? Number(digits) : digits)

function changeRule(raw: Raw, place: number | null, input: RuleInput): ChangeEffect {
  const rules = listOf(raw[RULES])
  const at = place ?? rules.length
  const missing = unreadable(raw, RULES) ?? (place === null ? null : noSuchRule(rules, place))
  if (missing) return missing
  const before = rules[at]
  const field = `${RULES}[${at}]`
  if (place !== null && !isRecord(before)) return fault(field, 'has an unexpected format')
  const old = isRecord(before) ? before : null
  const after = ruleOf(old, input)
  return changedUnless(branchFaults(field, old, after), raw, {
    [RULES]: [...rules.slice(0, at), after, ...rules.slice(at + 1)],
  })
}

const noSuchRule = (rules: readonly unknown[], at: number): ChangeEffect | null =>
  Object.hasOwn(rules, at) ? null : fault(`${RULES}[${at}]`, 'is not a rule of this project')

function removeRule(raw: Raw, at: number): ChangeEffect {
  const rules = listOf(raw[RULES])
  const missing = unreadable(raw, RULES) ?? noSuchRule(rules, at)
  return missing ?? changed(raw, { [RULES]: rules.filter((_, place) => place !== at) })
}

export interface Difference {
  /** `branches`, `environment_variables.TOKEN`, `notification_rules[2].options.key`; for a new item, its new place */
  field: string
  /** as text; for a list, the removed items as lines. Null: there was nothing */
  before: string | null
  /** as text; for a list, the added items as lines. Null: there is nothing */
  after: string | null
  /** `before` and `after` are `MASK` or null: only that they differ may be shown */
  isSecret: boolean
}

/** The top-level field of the project that a difference is in. */
export const topOf = (field: string): string => /^[^.[]*/.exec(field)?.[0] ?? field

/**
 * The differences between two states of a project as CI sent them, without secrets; empty if they are equivalent. Null
 * is the same as a missing field. The order of rules, branches, teams and events does not count; nor does `updated_at`.
 */
export const differencesOf = (before: Raw, after: Raw): Difference[] =>
  inRecords({ field: '', names: [] }, { ...before, updated_at: null }, { ...after, updated_at: null })

/** A place in the project; `names` are the field names without list places. */
interface RulePosition {
  field: string
  names: readonly string[]
}

const inField = ({ field, names }: RulePosition, name: string): RulePosition => ({
  field: field === '' ? name : `${field}.${name}`,
  names: [...names, name],
})

const inItem = ({ field, names }: RulePosition, at: number): RulePosition => ({ field: `${field}[${at}]`, names })

function inValues(place: RulePosition, before: unknown, after: unknown): Difference[] {
  if (canonical(before) === canonical(after)) return []
  const name = place.names.at(-1) ?? ''
  // Within a secret even the names of fields can be secrets.
  if (isSecretName(name)) return [hidden(place, before, after)]
  const forms = new Set([before, after].filter((value) => !isNullish(value)).map(formOf))
  if (forms.size > 1) return [...inValues(place, before, null), ...inValues(place, null, after)]
  if (forms.has('record')) return inRecords(place, before, after)
  if (!forms.has('list')) return [asText(place, leavesOf(before), leavesOf(after))]
  if (place.field === 'environment_variables') return inVariables(place, listOf(before), listOf(after))
  return inLists(place, listOf(before), listOf(after))
}

const formOf = (value: unknown): 'list' | 'record' | 'leaf' =>
  Array.isArray(value) ? 'list' : isRecord(value) ? 'record' : 'leaf'

const leavesOf = (value: unknown): unknown[] => (isNullish(value) ? [] : [value])

function inRecords(place: RulePosition, before: unknown, after: unknown): Difference[] {
  const names = new Set([before, after].flatMap((value) => (isRecord(value) ? Object.keys(value) : [])))
  return [...names].flatMap((name) => inValues(inField(place, name), fieldOf(before, name), fieldOf(after, name)))
}

function inVariables(place: RulePosition, before: readonly unknown[], after: readonly unknown[]): Difference[] {
  const [old, now] = [Map.groupBy(before, variableKey), Map.groupBy(after, variableKey)]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)]
    return canonical(was) === canonical(is) ? [] : [hidden(name === '' ? place : inField(place, name), was, is)]
  })
}

function variableKey(variable: unknown): string {
  const name = fieldOf(variable, 'name')
  return typeof name === 'string' ? name : ''
}

function inLists(place: RulePosition, before: readonly unknown[], after: readonly unknown[]): Difference[] {
  const [gone, come] = [without(before, after), without(after, before)]
  const isReordered = gone.length === 0 && come.length === 0
  if (isReordered && isUnordered(place.names.at(-1) ?? '')) return []
  const [old, now] = isReordered ? [[...before.entries()], [...after.entries()]] : [gone, come]
  const [oldItems, nowItems] = [old.map(([, item]) => item), now.map(([, item]) => item)]
  if ([...before, ...after].every((item) => formOf(item) === 'leaf')) return [asText(place, oldItems, nowItems)]
  return Array.from({ length: Math.max(old.length, now.length) }, (_, at) => {
    const [index] = old[at] ?? now[at] ?? [at]
    return inValues(inItem(place, index), oldItems[at], nowItems[at])
  }).flat()
}

/** The items of a list, with their places, that are missing in the other list or occur less often there. */
function without(items: readonly unknown[], others: readonly unknown[]): [at: number, item: unknown][] {
  const left = new Map<string, number>()
  for (const text of others.map((other) => canonical(other))) left.set(text, (left.get(text) ?? 0) + 1)
  return [...items.entries()].filter(([, item]) => {
    const same = left.get(canonical(item)) ?? 0
    left.set(canonical(item), same - 1)
    return same <= 0
  })
}

const hidden = ({ field }: RulePosition, before: unknown, after: unknown): Difference => ({
  field,
  before: isNullish(before) ? null : MASK,
  after: isNullish(after) ? null : MASK,
  isSecret: true,
})

function asText(place: RulePosition, before: readonly unknown[], after: readonly unknown[]): Difference {
  const [old, now] = [linesOf(before, shown), linesOf(after, shown)]
  if (isSecretPlace(place.names)) return hidden(place, old, now)
  if (old !== now) return { field: place.field, before: old, after: now, isSecret: false }
  // They look the same: either the credentials in a URL differ, or a number became a string of digits.
  const [oldExact, nowExact] = [linesOf(before, canonical), linesOf(after, canonical)]
  if ([oldExact, nowExact].some((text) => text !== null && withoutCredentials(text) !== text))
    return hidden(place, old, now)
  return { field: place.field, before: oldExact, after: nowExact, isSecret: false }
}

const linesOf = (values: readonly unknown[], toText: (value: unknown) => string): string | null =>
  values.length === 0 ? null : values.map((value) => toText(value)).join('\n')

const shown = (value: unknown): string => (typeof value === 'string' ? withoutCredentials(value) : canonical(value))
