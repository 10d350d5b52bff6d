// What the sandbox tells the page by its stream: the state, and one change after another.

export interface Team {
  id: string
  name: string
}

export interface User {
  id: string
  name: string
  realName: string
  role: 'member' | 'admin' | 'owner' | 'guest' | 'bot'
  /** of an outsider alone */
  team?: Team
  isDeactivated?: boolean
}

export interface Channel {
  id: string
  name: string
  kind: 'public' | 'private' | 'im'
  isArchived: boolean
  isShared: boolean
  hasBot: boolean
  members: string[]
}

export interface TextObject {
  type: 'plain_text' | 'mrkdwn'
  text: string
  emoji?: boolean
}

export interface Option {
  text: TextObject
  value: string
  description?: TextObject
}

export interface Confirm {
  title: TextObject
  text: TextObject
  confirm: TextObject
  deny: TextObject
  style?: 'primary' | 'danger'
}

/** Whatever one can use, look at or fill in; which parts are there depends on its type. */
export interface Element {
  type: string
  action_id?: string
  text?: TextObject
  url?: string
  value?: string
  style?: 'primary' | 'danger'
  confirm?: Confirm
  accessibility_label?: string
  placeholder?: TextObject
  options?: Option[]
  option_groups?: { label: TextObject; options: Option[] }[]
  min_query_length?: number
  multiline?: boolean
  is_decimal_allowed?: boolean
  focus_on_load?: boolean
  dispatch_action_config?: { trigger_actions_on?: string[] }
  filter?: { include?: string[]; exclude_bot_users?: boolean; exclude_external_shared_channels?: boolean }
  image_url?: string
  slack_file?: { url?: string; id?: string }
  alt_text?: string
}

export interface RichElement {
  type: string
  elements?: RichElement[]
  text?: string
  url?: string
  name?: string
  user_id?: string
  channel_id?: string
  range?: string
  fallback?: string
  value?: string
  /** of a list a word, of a text its marks */
  style?: string | Partial<Record<'bold' | 'italic' | 'strike' | 'underline' | 'code', boolean>>
}

export interface Block {
  type: string
  block_id?: string
  /** of a markdown block a string */
  text?: TextObject | string
  fields?: TextObject[]
  accessory?: Element
  elements?: (Element | TextObject | RichElement)[]
  element?: Element
  label?: TextObject
  hint?: TextObject
  title?: TextObject
  optional?: boolean
  dispatch_action?: boolean
  image_url?: string
  slack_file?: { url?: string; id?: string }
  alt_text?: string
}

export interface Attachment {
  color?: string
  pretext?: string
  title?: string
  text?: string
  footer?: string
  blocks?: Block[]
}

export interface FileInMessage {
  name: string
  title: string
  mimetype: string
  url_private: string
  alt_txt?: string
}

/** What a message says; the rest of it is who, where and when. */
export interface Said {
  text?: string
  blocks?: Block[]
  attachments?: Attachment[]
  files?: FileInMessage[]
  reactions?: { name: string; count: number }[]
}

export interface Message extends Said {
  ts: string
  channel: string
  root: string | null
  user: string
  isBroadcast: boolean
  isTombstone: boolean
  editCount: number
  /** the last edit */
  edited?: { ts: string }
  /** whom alone it is shown to */
  onlyFor?: string
}

export type Value = Record<string, unknown> & { type?: string }
/** What stands in the fields of a view: block id, action id, value. */
export type Values = Record<string, Record<string, Value>>

export interface View {
  id: string
  hash?: string
  type: string
  title?: TextObject
  submit?: TextObject
  close?: TextObject
  submit_disabled?: boolean
  blocks: Block[]
  state?: { values: Values }
}

export interface Views {
  /** modals, the visible one last */
  stack: View[]
  home: View | null
}

/** A slash command as the app declares it. */
export interface Command {
  command: string
  description: string
  usage: string
  /** whether names in its words arrive as who they mean */
  isEscaped: boolean
}

export interface Shortcut {
  name: string
  type: 'message' | 'global'
  callbackId: string
}

/** What the app has declared to Slack, and the words that may follow its commands. */
export interface AppWords {
  commands: Command[]
  shortcuts: Shortcut[]
  /** whether people can write to the app directly */
  isReadOnly: boolean
}

export interface Snapshot {
  /** by the sandbox's clock */
  nowMs: number
  team: Team
  bot: { userId: string; name: string }
  app: AppWords
  /** whether `/gallery/` shows everything that the app says */
  hasGallery: boolean
  users: User[]
  userGroups: { id: string; handle: string; name: string }[]
  channels: (Channel & { messages: Message[] })[]
  views: Record<string, Views>
}

export type Change =
  | { kind: 'message'; message: Message }
  | { kind: 'removed'; channel: string; ts: string }
  | { kind: 'channel'; channel: Channel }
  | { kind: 'user'; user: User }
  | ({ kind: 'views'; user: string } & Views)
