import { elementsOf } from './elements.ts'
import { objectOf } from './json.ts'
import type { Json } from './json.ts'

/** What people have put into a view: block id, action id, value. */
export type Values = Record<string, Record<string, Json>>

/**
 * The state of a view as Slack sends it: each field, with what was put in (`kept`) or what it began with. What is kept
 * of fields that are not there any more is dropped. `current` is the conversation in which the view was asked for.
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

/** Whether people can put something into the element: buttons and overflow menus hold nothing. */
export const isField = ({ type }: Json): boolean => FIELDS.has(String(type))

type FieldParts = [valueName: string, initialName: string, none: unknown]

const SELECTED = (name: string): FieldParts => [`selected_${name}`, `initial_${name}`, null]
const SEVERAL = (name: string): FieldParts => [`selected_${name}`, `initial_${name}`, []]
const TYPED: FieldParts = ['value', 'initial_value', null]

/** By type: where the value stands, where it begins, and what stands there when nothing is chosen. */
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

/** Where the value of a field stands: `value`, `selected_option`… */
export const valueNameOf = (field: Json): string => partsOf(field)[0]

/** Whether several can be chosen. */
export const isList = (field: Json): boolean => partsOf(field)[2] !== null

/** The values a view holds now. */
export function valuesIn(view: Json): Values {
  const { values } = objectOf(view['state'])
  return Object.fromEntries(Object.entries(objectOf(values)).map(([id, fields]) => [id, toFields(fields)]))
}

const toFields = (fields: unknown): Record<string, Json> =>
  Object.fromEntries(Object.entries(objectOf(fields)).map(([id, value]) => [id, objectOf(value)]))

/** Puts values over those that the view holds, field by field. */
export function putValues(view: Json, values: Values): void {
  const held = valuesIn(view)
  const merged = Object.entries(values).map(([id, fields]) => [id, { ...held[id], ...fields }])
  view['state'] = { values: { ...held, ...Object.fromEntries(merged) } }
}
