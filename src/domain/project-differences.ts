import { canonical, ORDER_FREE } from './canonical.ts'
import { fieldOf, isRecord, listOf, saysNothing } from './raw-values.ts'
import { isSecretName, isSecretPlace, MASK, withoutCredentials } from './secret-fields.ts'

/** One thing that is not the same in two states of a project. */
export interface Difference {
  /** `branches`, `environment_variables.TOKEN`, `notification_rules[2].options.key`; a new item's place is its new one */
  field: string
  /** as text; of a list the lines that went away. null: there was nothing */
  before: string | null
  /** as text; of a list the lines that came. null: there is nothing */
  after: string | null
  /** each side is `MASK` where there is something: only that they differ is said */
  isSecret: boolean
}

type Raw = Record<string, unknown>

/**
 * What differs between two states of a project as CI sent them; empty exactly where they say the same. null says as much
 * as nothing, the order of rules, branches, teams and events says nothing, and neither does `updated_at`. No secret is in it.
 */
export const differencesOf = (before: Raw, after: Raw): Difference[] =>
  inRecords({ field: '', names: [] }, { ...before, updated_at: null }, { ...after, updated_at: null })

/** Where in the project; `names` are the field names alone. */
interface Place {
  field: string
  names: readonly string[]
}

const inField = ({ field, names }: Place, name: string): Place => ({
  field: field === '' ? name : `${field}.${name}`,
  names: [...names, name],
})

const inItem = ({ field, names }: Place, at: number): Place => ({ field: `${field}[${at}]`, names })

function inValues(place: Place, before: unknown, after: unknown): Difference[] {
  if (canonical(before) === canonical(after)) return []
  const name = place.names.at(-1) ?? ''
  // Within a secret even the names of fields can be secrets.
  if (isSecretName(name)) return [hidden(place, before, after)]
  const forms = new Set([before, after].filter((value) => !saysNothing(value)).map(formOf))
  if (forms.size > 1) return [...inValues(place, before, null), ...inValues(place, null, after)]
  if (forms.has('record')) return inRecords(place, before, after)
  if (!forms.has('list')) return [asText(place, leavesOf(before), leavesOf(after))]
  if (place.field === 'environment_variables') return inVariables(place, listOf(before), listOf(after))
  return inLists(place, listOf(before), listOf(after))
}

const formOf = (value: unknown): 'list' | 'record' | 'leaf' =>
  Array.isArray(value) ? 'list' : isRecord(value) ? 'record' : 'leaf'

const leavesOf = (value: unknown): unknown[] => (saysNothing(value) ? [] : [value])

function inRecords(place: Place, before: unknown, after: unknown): Difference[] {
  const names = new Set([before, after].flatMap((value) => (isRecord(value) ? Object.keys(value) : [])))
  return [...names].flatMap((name) => inValues(inField(place, name), fieldOf(before, name), fieldOf(after, name)))
}

function inVariables(place: Place, before: readonly unknown[], after: readonly unknown[]): Difference[] {
  const [old, now] = [Map.groupBy(before, nameOf), Map.groupBy(after, nameOf)]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)]
    return canonical(was) === canonical(is) ? [] : [hidden(name === '' ? place : inField(place, name), was, is)]
  })
}

function nameOf(variable: unknown): string {
  const name = fieldOf(variable, 'name')
  return typeof name === 'string' ? name : ''
}

function inLists(place: Place, before: readonly unknown[], after: readonly unknown[]): Difference[] {
  const [gone, come] = [without(before, after), without(after, before)]
  const isReordered = gone.length === 0 && come.length === 0
  if (isReordered && ORDER_FREE.has(place.names.at(-1) ?? '')) return []
  const [old, now] = isReordered ? [[...before.entries()], [...after.entries()]] : [gone, come]
  const [oldItems, nowItems] = [old.map(([, item]) => item), now.map(([, item]) => item)]
  if ([...before, ...after].every((item) => formOf(item) === 'leaf')) return [asText(place, oldItems, nowItems)]
  return Array.from({ length: Math.max(old.length, now.length) }, (_, at) => {
    const [index] = old[at] ?? now[at] ?? [at]
    return inValues(inItem(place, index), oldItems[at], nowItems[at])
  }).flat()
}

/** The items of a list, with their places, that the other has not got as often. */
function without(items: readonly unknown[], others: readonly unknown[]): [at: number, item: unknown][] {
  const left = new Map<string, number>()
  for (const other of others.map(canonical)) left.set(other, (left.get(other) ?? 0) + 1)
  return [...items.entries()].filter(([, item]) => {
    const same = left.get(canonical(item)) ?? 0
    left.set(canonical(item), same - 1)
    return same <= 0
  })
}

const hidden = ({ field }: Place, before: unknown, after: unknown): Difference => ({
  field,
  before: saysNothing(before) ? null : MASK,
  after: saysNothing(after) ? null : MASK,
  isSecret: true,
})

function asText(place: Place, before: readonly unknown[], after: readonly unknown[]): Difference {
  const [old, now] = [linesOf(before, shown), linesOf(after, shown)]
  if (isSecretPlace(place.names)) return hidden(place, old, now)
  if (old !== now) return { field: place.field, before: old, after: now, isSecret: false }
  // Alike to the eye: either credentials in an address differ, or a number became its digits.
  const [oldExact, nowExact] = [linesOf(before, canonical), linesOf(after, canonical)]
  if ([oldExact, nowExact].some((text) => text !== null && withoutCredentials(text) !== text))
    return hidden(place, old, now)
  return { field: place.field, before: oldExact, after: nowExact, isSecret: false }
}

const linesOf = (values: readonly unknown[], toText: (value: unknown) => string): string | null =>
  values.length === 0 ? null : values.map(toText).join('\n')

const shown = (value: unknown): string => (typeof value === 'string' ? withoutCredentials(value) : canonical(value))
