import { elementsOf } from './elements.ts'
import { objectOf } from './json.ts'
import type { Json } from './json.ts'

/** What people have put into a view: block id, action id, value. */
export type Values = Record<string, Record<string, Json>>

/**
 * The state of a view as Slack sends it: each field, with what was put in (`kept`) or what it began with. What is kept
 * of fields that are not there any more is dropped.
 */
export function valuesOf(blocks: readonly Json[], kept: Values): Values {
  const filled = blocks.map((block): [string, Record<string, Json>] => {
    const id = String(block['block_id'])
    return [id, fieldsOf(block, kept[id] ?? {})]
  })
  return Object.fromEntries(filled.filter(([, fields]) => Object.keys(fields).length > 0))
}

function fieldsOf(block: Json, kept: Record<string, Json>): Record<string, Json> {
  const fields = elementsOf(block).filter(isField)
  return Object.fromEntries(
    fields.map((field) => {
      const actionId = String(field['action_id'])
      return [actionId, kept[actionId] ?? startOf(field)]
    }),
  )
}

/** Whether people can put something into the element: buttons and overflow menus hold nothing. */
export const isField = ({ type }: Json): boolean => FIELDS.has(String(type))

const SELECTED = (name: string): [string, string, unknown] => [`selected_${name}`, `initial_${name}`, null]
const SEVERAL = (name: string): [string, string, unknown] => [`selected_${name}`, `initial_${name}`, []]
const TYPED: [string, string, unknown] = ['value', 'initial_value', null]

/** By type: where the value stands, where it begins, and what stands there when nothing is chosen. */
const FIELDS = new Map<string, [string, string, unknown]>([
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

function startOf(field: Json): Json {
  const [name, initial, none] = FIELDS.get(String(field['type'])) ?? TYPED
  return { type: field['type'], [name]: field[initial] ?? none }
}

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
