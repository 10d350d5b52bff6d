// The fields of a form as DOM. Each tells `put` what stands in it now, by the property that Slack keeps it under.
import { h } from './blocks.js'
import { lookup } from './lookup.js'

/** Whether people can put something into an element of this type: buttons and overflow menus hold nothing. */
export const isField = ({ type }) => type in DRAW

/** Whether the field is several controls, which take their name from a group and not from a label. */
export const isGroup = ({ type }) =>
  type === 'radio_buttons' || type === 'checkboxes' || (type.startsWith('multi_') && !type.includes('external'))

/**
 * Draws a field. `at` has its `attributes`, what is `held`, the `users` and `channels` one may choose, and what it
 * calls: `put(value)`, `tell()` once a choice is made, `search(text)` for a menu's options.
 */
export const drawField = (one, at) => DRAW[one.type](one, at)

const DRAW = {
  plain_text_input: (one, at) => typed(one, at, one.multiline ? 'textarea' : 'input'),
  email_text_input: (one, at) => typed(one, at, 'input', { type: 'email' }),
  url_text_input: (one, at) => typed(one, at, 'input', { type: 'url' }),
  number_input: (one, at) => typed(one, at, 'input', { inputmode: one.is_decimal_allowed ? 'decimal' : 'numeric' }),
  static_select: (one, at) => menu(one, at, 'selected_option', optionItems(one)),
  users_select: (one, at) => menu(one, at, 'selected_user', userItems(at)),
  channels_select: (one, at) => menu(one, at, 'selected_channel', channelItems(at)),
  conversations_select: (one, at) => menu(one, at, 'selected_conversation', conversationItems(one, at)),
  external_select: (one, at) => lookup(one, at),
  multi_static_select: (one, at) => choices(one, at, 'selected_options', optionItems(one)),
  multi_users_select: (one, at) => choices(one, at, 'selected_users', userItems(at)),
  multi_channels_select: (one, at) => choices(one, at, 'selected_channels', channelItems(at)),
  multi_conversations_select: (one, at) => choices(one, at, 'selected_conversations', conversationItems(one, at)),
  multi_external_select: (one, at) => lookup(one, at),
  checkboxes: (one, at) => choices(one, at, 'selected_options', optionItems(one)),
  radio_buttons: (one, at) => choices(one, at, 'selected_option', optionItems(one), 'radio'),
  datepicker: (one, at) => picked(at, 'selected_date', { type: 'date' }),
  timepicker: (one, at) => picked(at, 'selected_time', { type: 'time' }),
  datetimepicker: (one, at) => picked(at, 'selected_date_time', { type: 'datetime-local' }, SECONDS),
}

/** A keystroke is told once the typing has paused for so long. */
const TYPING_PAUSE_MS = 300

function typed(one, at, tag, kind = {}) {
  const type = tag === 'input' ? { type: 'text', ...kind } : { rows: 4 }
  const drawn = h(tag, { ...at.attributes, ...type, placeholder: one.placeholder?.text, autocomplete: 'off' })
  const tellsOn = one.dispatch_action_config?.trigger_actions_on ?? ['on_enter_pressed']
  let timer
  drawn.value = at.held.value ?? ''
  drawn.addEventListener('input', () => {
    at.put({ value: drawn.value === '' ? null : drawn.value })
    clearTimeout(timer)
    if (tellsOn.includes('on_character_entered')) timer = setTimeout(() => at.tell(), TYPING_PAUSE_MS)
  })
  drawn.addEventListener('keydown', (event) => {
    const isEnter = event.key === 'Enter' && !event.isComposing && tag === 'input'
    if (!isEnter || !at.tellsAtOnce || !tellsOn.includes('on_enter_pressed')) return
    event.preventDefault()
    at.tell()
  })
  return drawn
}

// What can be chosen: the words, the value that Slack keeps, and the key by which the two are known again.
const optionItem = (option, group) => ({
  words: option.text.text,
  more: option.description?.text,
  value: option,
  key: option.value,
  group,
})
const optionItems = ({ options = [], option_groups: groups = [] }) => [
  ...options.map((option) => optionItem(option)),
  ...groups.flatMap((group) => group.options.map((option) => optionItem(option, group.label.text))),
]
const idItem = (id, words) => ({ words, value: id, key: id })
const userItems = ({ users }) =>
  users.filter(({ isDeactivated }) => !isDeactivated).map(({ id, realName }) => idItem(id, realName))
const channelItems = ({ channels }) =>
  channels
    .filter(({ kind, isArchived }) => kind === 'public' && !isArchived)
    .map(({ id, name }) => idItem(id, `#${name}`))

function conversationItems({ filter = {} }, { channels, person }) {
  const isWanted = ({ kind, isShared }) =>
    (filter.include?.includes(kind) ?? true) && !(filter.exclude_external_shared_channels && isShared)
  return channels
    .filter(({ kind, isArchived, members }) => !isArchived && (kind === 'public' || members.includes(person)))
    .filter(({ kind }) => !(kind === 'im' && filter.exclude_bot_users))
    .filter(isWanted)
    .map(({ id, name, kind }) => idItem(id, kind === 'im' ? 'Direct message with the app' : `#${name}`))
}

const keyOf = (value) => value?.value ?? value

function menu(one, at, name, items) {
  const held = keyOf(at.held[name])
  const none = h('option', { value: '' }, one.placeholder?.text ?? 'Choose…')
  const drawn = h('select', at.attributes, none, groupsOf(items))
  const index = items.findIndex(({ key }) => key === held)
  drawn.value = index === -1 ? '' : String(index)
  drawn.addEventListener('change', () => {
    at.put({ [name]: drawn.value === '' ? null : items[Number(drawn.value)].value })
    at.tell()
  })
  return drawn
}

function groupsOf(items) {
  const drawn = items.map(({ words }, index) => h('option', { value: index }, words))
  const groups = [...new Set(items.map(({ group }) => group))]
  return groups.flatMap((group) => {
    const members = drawn.filter((_one, index) => items[index].group === group)
    return group === undefined ? members : h('optgroup', { label: group }, members)
  })
}

function choices(one, at, name, items, type = 'checkbox') {
  const { 'data-key': key, 'data-action-id': actionId, ...shared } = at.attributes
  const held = new Set([at.held[name] ?? []].flat().map(keyOf))
  const boxes = items.map((item, index) =>
    h('input', { type, name: key, value: index, checked: held.has(item.key), 'data-key': `${key}/${item.key}` }),
  )
  const chosen = () => items.filter((_item, index) => boxes[index].checked).map(({ value }) => value)
  const lines = items.map(({ words, more }, index) =>
    h('label', { class: 'choice' }, boxes[index], h('span', {}, words, more ? h('small', {}, more) : null)),
  )
  const role = type === 'radio' ? 'radiogroup' : 'group'
  const drawn = h('div', { ...shared, role, class: 'choices-list', 'data-action-id': actionId }, lines)
  drawn.addEventListener('change', () => {
    at.put({ [name]: type === 'radio' ? (chosen()[0] ?? null) : chosen() })
    at.tell()
  })
  return drawn
}

const AS_IT_IS = { read: (text) => text, show: (value) => value }
const MINUTE_MS = 60_000
/** Slack keeps a moment in seconds, and a browser's field shows it in the reader's own zone. */
const SECONDS = {
  read: (text) => Math.floor(new Date(text).getTime() / 1_000),
  show: (value) => {
    const at = new Date(value * 1_000)
    return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
  },
}

function picked(at, name, type, { read, show } = AS_IT_IS) {
  const drawn = h('input', { ...at.attributes, ...type })
  const held = at.held[name]
  drawn.value = held === null || held === undefined ? '' : show(held)
  drawn.addEventListener('change', () => {
    at.put({ [name]: drawn.value === '' ? null : read(drawn.value) })
    at.tell()
  })
  return drawn
}
