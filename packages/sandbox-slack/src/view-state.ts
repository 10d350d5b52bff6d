import { elementsOf } from './elements.ts'
import { objectOf } from './json.ts'
import type { Json } from './json.ts'

/** The input in a view's fields, by block id and action id. */
export type Values = Record<string, Record<string, Json>>

/**
 * The state of a view as Slack sends it: each field with its input from `kept`, or with its initial value. Input of
 * fields that no longer exist is dropped. `current` is the conversation from which the view was opened.
 */
export function valuesOf(blocks: readonly Json[], kept: Values, current?: string): Values {
  const filled = blocks.map((block): [string, Record<string, Json>] => {
    const id = String(block['block_id'])
    return [id, fieldsOf(block, kept[id] ?? {}, current)]
  })
  return Object.fromEntries(filled.filter(([, fields]) => Object.keys(fields).length > 0))
}

function fieldsOf(block: Json, kept: Record<string, Json>, current: string | undefined): Record<string, Json> {
  const fields = elementsOf(block).filter(isField)
  return Object.fromEntries(
    fields.map((field) => {
      const actionId = String(field['action_id'])
      return [actionId, kept[actionId] ?? startOf(field, current)]
    }),
  )
}

/** Whether the element has a value. Buttons and overflow menus have none. */
export const isField = ({ type }: Json): boolean => FIELDS.has(String(type))

type FieldParts = [valueName: string, initialName: string, none: unknown]

const SELECTED = (name: string): FieldParts => [`selected_${name}`, `initial_${name}`, null]
const SEVERAL = (name: string): FieldParts => [`selected_${name}`, `initial_${name}`, []]
const TYPED: FieldParts = ['value', 'initial_value', null]

/** For each type: the names of the value and of the initial value, and the value if nothing is chosen. */
const FIELDS = new Map<string, FieldParts>([
  ['plain_text_input', TYPED],
  ['email_text_input', TYPED],
  ['url_text_input', TYPED],
  ['number_input', TYPED],
  ['static_select', SELECTED('option')],
  ['external_select', SELECTED('option')],
  ['radio_buttons', SELECTED('option')],
  ['checkboxes', SEVERAL('options')],
  ['multi_static_select', SEVERAL('options')],
  ['multi_external_select', SEVERAL('options')],
  ['users_select', SELECTED('user')],
  ['multi_users_select', SEVERAL('users')],
  ['conversations_select', SELECTED('conversation')],
  ['multi_conversations_select', SEVERAL('conversations')],
  ['channels_select', SELECTED('channel')],
  ['multi_channels_select', SEVERAL('channels')],
  ['datepicker', SELECTED('date')],
  ['timepicker', SELECTED('time')],
  ['datetimepicker', SELECTED('date_time')],
])

function startOf(field: Json, current: string | undefined): Json {
  const [name, initial, none] = partsOf(field)
  return { type: field['type'], [name]: field[initial] ?? currentFor(field, none, current) ?? none }
}

function currentFor(field: Json, none: unknown, current: string | undefined): unknown {
  if (field['default_to_current_conversation'] !== true || current === undefined) return undefined
  return none === null ? current : [current]
}

const partsOf = ({ type }: Json): FieldParts => FIELDS.get(String(type)) ?? TYPED

/** The name of the field's value: `value`, `selected_option`… */
export const valueNameOf = (field: Json): string => partsOf(field)[0]

/** Whether several options can be chosen. */
export const isList = (field: Json): boolean => partsOf(field)[2] !== null

/** The current values of a view. */
export function valuesIn(view: Json): Values {
  const { values } = objectOf(view['state'])
  return Object.fromEntries(Object.entries(objectOf(values)).map(([id, fields]) => [id, toFields(fields)]))
}

const toFields = (fields: unknown): Record<string, Json> =>
  Object.fromEntries(Object.entries(objectOf(fields)).map(([id, value]) => [id, objectOf(value)]))

/** Overrides the view's values with these, field by field. */
export function putValues(view: Json, values: Values): void {
  const held = valuesIn(view)
  const merged = Object.entries(values).map(([id, fields]) => [id, { ...held[id], ...fields }])
  view['state'] = { values: { ...held, ...Object.fromEntries(merged) } }
}
