// The types of the sandbox's stream: the state, and then the changes.

export interface Team {
  id: string
  name: string
}

export interface User {
  id: string
  name: string
  realName: string
  role: 'member' | 'admin' | 'owner' | 'guest' | 'bot'
  /** only for an outsider */
  team?: Team
  isDeactivated?: boolean
}

export interface Channel {
  id: string
  name: string
  kind: 'public' | 'private' | 'mpim' | 'im'
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

/** An element: a button, a menu, a field or a picture. Its type decides which fields it has. */
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
  /** for a list a word, for a text its marks */
  style?: string | Partial<Record<'bold' | 'italic' | 'strike' | 'underline' | 'code', boolean>>
}

export interface Block {
  type: string
  block_id?: string
  /** a string in a markdown block */
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

/** The content of a message, without author, place and time. */
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
  /** the ts of the last edit */
  edited?: { ts: string }
  /** the only person who sees it */
  onlyFor?: string
}

export type Value = Record<string, unknown> & { type?: string }
/** The values of a view's fields, by block id and action id. */
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

/** A slash command from the manifest, or a hint. */
export interface Command {
  command: string
  description: string
  usage: string
  /** whether names in its text are replaced by ids (`should_escape`) */
  isEscaped: boolean
}

export interface Shortcut {
  name: string
  type: 'message' | 'global'
  callbackId: string
}

/** The commands and shortcuts of the app's manifest, and hints for its commands. */
export interface AppWords {
  commands: Command[]
  shortcuts: Shortcut[]
  /** whether people cannot write direct messages to the app */
  isReadOnly: boolean
}

export interface Snapshot {
  /** the sandbox's time */
  nowMs: number
  team: Team
  bot: { userId: string; name: string }
  app: AppWords
  /** whether there is a gallery at `/gallery/` */
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
  /** a channel has a new id */
  | { kind: 'moved'; from: string; channel: Channel }
  | { kind: 'user'; user: User }
  | ({ kind: 'views'; user: string } & Views)
