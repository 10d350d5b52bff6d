import type { Clock } from '../../lib/clock.ts'
import type { Json } from './json.ts'

// The data types of the workspace.

export interface Message {
  ts: string
  /** the root's ts; missing on a root */
  threadTs?: string
  isBroadcast: boolean
  userId: string
  byBot: boolean
  /** posted by a workflow or an old integration, which Slack shows with a name and without a user */
  botName?: string
  text: string
  blocks: Json[]
  attachments: Json[]
  metadata?: Json
  files: File[]
  postedAtMs: number
  editCount: number
  editedTs?: string
  isEditWindowClosed: boolean
  /** a deleted root that still has replies */
  isTombstone: boolean
  reactions: { name: string; users: string[] }[]
}

export interface Team {
  id: string
  name: string
  domain: string
}

export interface User {
  id: string
  name: string
  realName: string
  /** accounts of apps have none */
  email?: string
  role: 'member' | 'admin' | 'owner' | 'guest' | 'bot'
  /** of an account with the role `bot` */
  bot?: Bot
  /** the workspace of an outsider; missing for people of this workspace */
  team?: Team
  /** their workspaces in the organization; by default this one */
  grid?: GridTeams
  isDeactivated?: boolean
  /** people whom the app may not see: `user_not_visible` */
  isHidden?: boolean
}

export interface Bot {
  botId: string
  appId: string
  kind: 'app' | 'workflow' | 'connector'
}

export interface GridTeams {
  /** the first one is the `team_id` that Slack names */
  teams: readonly string[]
  /** Slack names no `team_id`, and the workspaces beside `enterprise_user`, not in it */
  isFlat?: boolean
}

/** A file, from the start of its upload. `bytes` is set when they arrive, `completedAtMs` when the app completes it. */
export interface File {
  id: string
  name: string
  title: string
  altText?: string
  /** the announced number of bytes; the upload must have exactly as many */
  length: number
  bytes?: Buffer
  completedAtMs?: number
  createdAtMs: number
}

export interface Channel {
  id: string
  name: string
  previousNames: string[]
  kind: 'public' | 'private' | 'mpim' | 'im'
  isArchived: boolean
  /** archived, because it goes on in another workspace */
  isMoved?: boolean
  /** who may not post what; missing: every member may */
  restriction?: Restriction
  /** user ids, with the bot's if it is a member */
  members: Set<string>
  /** the other workspaces that share it; missing if it is not shared */
  sharedWith?: readonly Team[]
  /** by ts, in posting order, which is also the order of ts */
  messages: Map<string, Message>
  /** the replies of each root, in order */
  threads: Map<string, Message[]>
  /** the last ts used, in microseconds */
  lastTsMicros: number
}

/** What Slack refuses in a channel. */
export interface Restriction {
  /** any message */
  isReadOnly?: boolean
  /** messages outside threads */
  isThreadOnly?: boolean
  /** replies */
  isNonThreadable?: boolean
  /** messages of everybody else; `type` names kinds of people, such as `admin`, of which no app is one */
  postingRestrictedTo?: RestrictedTo
  /** the same of replies */
  threadsRestrictedTo?: RestrictedTo
}

interface RestrictedTo {
  type?: string[]
  user?: string[]
}

/** A message that only one person sees, until they reload. */
export interface Ephemeral {
  channelId: string
  userId: string
  message: Message
}

export interface UserGroup {
  id: string
  handle: string
  name: string
  users: string[]
}

export interface Workspace {
  readonly clock: Clock
  readonly team: Team
  readonly bot: { userId: string; botId: string; appId: string; name: string }
  /** the organization that it belongs to; null: none */
  enterprise: { id: string; name: string } | null
  /** whether `auth.test` names the app */
  readonly namesApp: boolean
  readonly users: Map<string, User>
  readonly userGroups: UserGroup[]
  readonly channels: Map<string, Channel>
  ephemerals: Ephemeral[]
  /** by id */
  readonly files: Map<string, File>
  /** the server's address, for URLs in its answers; empty until it listens */
  origin: string
  readonly changes: Changes
  /** how long a new message stays hidden from history and replies */
  historyLagMs: number
  /** a number that was not used before, for ids */
  nextNumber(): number
}

/** A change in the workspace. The page and the counters listen to these. */
export type Change =
  | { kind: 'posted' | 'edited' | 'removed'; channel: Channel; message: Message; byBot: boolean }
  | { kind: 'reacted'; channel: Channel; message: Message }
  | { kind: 'ephemeral' | 'ephemeral-removed'; channel: Channel; ephemeral: Ephemeral }
  | { kind: 'channel'; channel: Channel }
  /** the channel has a new id */
  | { kind: 'moved'; from: string; channel: Channel }
  | { kind: 'user'; user: User }
  /** a person's open modals, the visible one last, and their home tab */
  | { kind: 'views'; userId: string; stack: readonly Json[]; home: Json | undefined }

export interface Changes {
  emit(change: Change): void
  /** Calls `listener` with every change from now on, in order. The returned function removes the listener. */
  on(listener: (change: Change) => void): () => void
}
