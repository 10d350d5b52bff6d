import type { Channel, Element, Option, User } from '../store/wire.ts'

const FIELDS = new Set([
  'plain_text_input',
  'email_text_input',
  'url_text_input',
  'number_input',
  'static_select',
  'users_select',
  'channels_select',
  'conversations_select',
  'external_select',
  'multi_static_select',
  'multi_users_select',
  'multi_channels_select',
  'multi_conversations_select',
  'multi_external_select',
  'checkboxes',
  'radio_buttons',
  'datepicker',
  'timepicker',
  'datetimepicker',
])

/** Whether an element of this type has a value. Buttons and overflow menus have none. */
export const isField = ({ type }: Element): boolean => FIELDS.has(type)

/** Whether the field has several controls, so that a group names it instead of a label. */
export const isGroup = ({ type }: Element): boolean =>
  type === 'radio_buttons' || type === 'checkboxes' || (type.startsWith('multi_') && !type.includes('external'))

/** A choice: its text, the value in Slack's state, and a key to compare choices by. */
export interface Item {
  words: string
  more?: string | undefined
  value: unknown
  key: string
  group?: string
}

/** The choices of a field. */
export function itemsOf(
  element: Element,
  known: { users: readonly User[]; channels: readonly Channel[]; person: string },
): Item[] {
  if (element.type.includes('users')) return userItems(known.users)
  if (element.type.includes('channels')) return channelItems(known.channels)
  return element.type.includes('conversations') ? conversationItems(element, known) : optionItems(element)
}

const optionItem = ({ text, description, value, ...rest }: Option, group?: string): Item => ({
  words: text.text,
  more: description?.text,
  value: { text, ...(description ? { description } : {}), value, ...rest },
  key: value,
  ...(group === undefined ? {} : { group }),
})

const optionItems = ({ options = [], option_groups: groups = [] }: Element): Item[] => [
  ...options.map((option) => optionItem(option)),
  ...groups.flatMap((group) => group.options.map((option) => optionItem(option, group.label.text))),
]

const idItem = (id: string, words: string): Item => ({ words, value: id, key: id })

const userItems = (users: readonly User[]): Item[] =>
  users.filter(({ isDeactivated }) => !isDeactivated).map(({ id, realName }) => idItem(id, realName))

const channelItems = (channels: readonly Channel[]): Item[] =>
  channels
    .filter(({ kind, isArchived }) => kind === 'public' && !isArchived)
    .map(({ id, name }) => idItem(id, `#${name}`))

function conversationItems(
  { filter = {} }: Element,
  { users, channels, person }: { users: readonly User[]; channels: readonly Channel[]; person: string },
): Item[] {
  const isWanted = ({ kind, isShared }: Channel) =>
    (filter.include?.includes(kind) ?? true) && !(filter.exclude_external_shared_channels && isShared)
  return channels
    .filter(({ kind, isArchived, members }) => !isArchived && (kind === 'public' || members.includes(person)))
    .filter(({ kind, hasBot }) => !(kind === 'im' && hasBot && filter.exclude_bot_users))
    .filter(isWanted)
    .map((channel) => idItem(channel.id, wordsOf(channel, users, person)))
}

function wordsOf({ kind, name, members }: Channel, users: readonly User[], person: string): string {
  if (kind !== 'im') return `#${name}`
  const partner = users.find(({ id }) => id !== person && members.includes(id))
  return `Direct message with ${partner?.role === 'bot' ? 'the app' : (partner?.realName ?? name)}`
}

/** The key of a value in Slack's state. */
export const keyOfValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'value' in value ? value.value : value

/** The name of the value of a field of this type in Slack's state. */
export function valueNameOf({ type }: Element): string {
  if (type.endsWith('_input')) return 'value'
  if (type === 'radio_buttons') return 'selected_option'
  if (type === 'checkboxes') return 'selected_options'
  if (type.endsWith('picker')) return PICKED[type] ?? 'value'
  const [, several, noun = ''] = /^(multi_)?(\w+)_select$/.exec(type) ?? []
  const name = CHOSEN[noun] ?? 'option'
  return several === undefined ? `selected_${name}` : `selected_${name}s`
}

const PICKED: Record<string, string> = {
  datepicker: 'selected_date',
  timepicker: 'selected_time',
  datetimepicker: 'selected_date_time',
}
const CHOSEN: Record<string, string> = { users: 'user', channels: 'channel', conversations: 'conversation' }
