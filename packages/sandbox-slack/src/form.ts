import { listOf, objectOf } from './json.ts'
import type { Json } from './json.ts'
import { LIMITS } from './limits.ts'
import { codePoints } from './limits/objects.ts'
import { elementsOf } from './elements.ts'
import { isField, isList, valueNameOf, valuesIn } from './view-state.ts'
import type { Values } from './view-state.ts'

// The checks that Slack's own clients make before they send a form.

/** The input in Slack's form: options as whole objects, and null for an empty field. */
export type Filled = { kind: 'filled'; values: Values } | { kind: 'misplaced'; reason: string }

/** Matches values with the view's fields by block and action id. `misplaced` names the first that fits no field. */
export function fillIn(view: Json, values: Json): Filled {
  const filled: Values = {}
  for (const [blockId, fields] of Object.entries(values)) {
    for (const [actionId, value] of Object.entries(objectOf(fields))) {
      const field = findField(view, blockId, actionId)
      const settled = field && settle(field, objectOf(value))
      if (!settled) return { kind: 'misplaced', reason: `${blockId}/${actionId} takes no such value` }
      filled[blockId] = { ...filled[blockId], [actionId]: settled }
    }
  }
  return { kind: 'filled', values: filled }
}

function findField(view: Json, blockId: string, actionId: string): Json | undefined {
  const block = listOf(view['blocks']).find((one) => one['block_id'] === blockId)
  return block && elementsOf(block).find((element) => element['action_id'] === actionId && isField(element))
}

function settle(field: Json, given: Json): Json | undefined {
  const name = valueNameOf(field)
  const value = given[name] === '' ? null : given[name]
  if (value === undefined || given['type'] !== field['type'] || Array.isArray(value) !== isList(field)) return undefined
  const offered = optionsOf(field)
  if (offered.length === 0 || value === null) return { type: field['type'], [name]: value }
  const chosen = [value].flat().map((one) => offered.find((option) => option['value'] === objectOf(one)['value']))
  if (chosen.includes(undefined)) return undefined
  return { type: field['type'], [name]: isList(field) ? chosen : chosen[0] }
}

const optionsOf = (field: Json): Json[] => [
  ...listOf(field['options']),
  ...listOf(field['option_groups']).flatMap((group) => listOf(group['options'])),
]

/** The errors for which Slack's clients do not send a form, by input block id; empty if the form can be sent. */
export function findFormErrors(view: Json): Record<string, string> {
  const values = valuesIn(view)
  const errors = listOf(view['blocks']).flatMap((block): [string, string][] => {
    if (block['type'] !== 'input') return []
    const field = objectOf(block['element'])
    const blockId = String(block['block_id'])
    const held = values[blockId]?.[String(field['action_id'])]?.[valueNameOf(field)] ?? null
    const error = isEmpty(held) ? (block['optional'] === true ? null : REQUIRED) : errorOf(field, held)
    return error === null ? [] : [[blockId, error]]
  })
  return Object.fromEntries(errors)
}

const REQUIRED = 'Please complete this required field.'

const isEmpty = (held: unknown): boolean => held === null || held === '' || (Array.isArray(held) && held.length === 0)

function errorOf(field: Json, held: unknown): string | null {
  if (Array.isArray(held)) return tooMany(field, held.length)
  if (typeof held !== 'string') return null
  return (TYPED_ERRORS[String(field['type'])] ?? (() => null))(field, held)
}

function tooMany({ max_selected_items: max }: Json, count: number): string | null {
  return typeof max === 'number' && count > max ? `Choose up to ${max}.` : null
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const WEB_ADDRESS = /^https?:\/\//

const TYPED_ERRORS: Record<string, (field: Json, text: string) => string | null> = {
  plain_text_input: lengthError,
  number_input: numberError,
  email_text_input: (_field, text) => (EMAIL.test(text) ? null : 'Enter an email address.'),
  url_text_input: (_field, text) => (WEB_ADDRESS.test(text) && URL.canParse(text) ? null : 'Enter a web address.'),
}

function lengthError({ min_length: min, max_length: max }: Json, text: string): string | null {
  const length = codePoints(text)
  const most = typeof max === 'number' ? max : LIMITS.inputTextMax
  if (typeof min === 'number' && length < min) return `Use at least ${min} characters.`
  return length > most ? `Use at most ${most} characters.` : null
}

const WHOLE = /^-?\d+$/
const DECIMAL = /^-?\d+(?:\.\d+)?$/

function numberError(field: Json, text: string): string | null {
  const { min_value: min, max_value: max } = field
  const isDecimal = field['is_decimal_allowed'] === true
  if (!(isDecimal ? DECIMAL : WHOLE).test(text)) return isDecimal ? 'Enter a number.' : 'Enter a whole number.'
  if (typeof min === 'string' && Number(text) < Number(min)) return `Enter a number of at least ${min}.`
  return typeof max === 'string' && Number(text) > Number(max) ? `Enter a number of at most ${max}.` : null
}
