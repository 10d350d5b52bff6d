import type { Clock } from '../../lib/clock.ts'
import type { Json } from './json.ts'

// What the workspace is made of.

export interface Message {
  ts: string
  /** the root's ts; absent on a root */
  threadTs?: string
  isBroadcast: boolean
  userId: string
  byBot: boolean
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
  /** nobody is behind an account without one */
  email?: string
  role: 'member' | 'admin' | 'owner' | 'guest' | 'bot'
  /** the workspace of an outsider; absent on the sandbox's own people */
  team?: Team
  isDeactivated?: boolean
}

/** A file from the moment its upload was asked for; it has bytes once they came, and is shared once. */
export interface File {
  id: string
  name: string
  title: string
  altText?: string
  /** how many bytes were announced, and therefore must come */
  length: number
  bytes?: Buffer
  isComplete: boolean
  createdAtMs: number
}

export interface Channel {
  id: string
  name: string
  kind: 'public' | 'private' | 'im'
  isArchived: boolean
  /** user ids, the bot's included where it was invited */
  members: Set<string>
  /** the other workspaces that share it; absent on a channel of this workspace alone */
  sharedWith?: readonly Team[]
  /** by ts, in the order posted, which is the order of ts */
  messages: Map<string, Message>
  /** the replies of each root, in order */
  threads: Map<string, Message[]>
  /** the last ts given out, in microseconds */
  lastTsMicros: number
}

/** What only one person sees, until they reload. */
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
  readonly users: Map<string, User>
  readonly userGroups: UserGroup[]
  readonly channels: Map<string, Channel>
  ephemerals: Ephemeral[]
  /** by id */
  readonly files: Map<string, File>
  /** this server's own address, for the URLs in what it answers; empty until it listens */
  origin: string
  readonly changes: Changes
  /** how long a new message stays invisible to history and replies */
  historyLagMs: number
  /** a number never given out before, for the ids the workspace makes */
  nextNumber(): number
}

/** What happened in the workspace, told to the page and to the counters as it happens. */
export type Change =
  | { kind: 'posted' | 'edited' | 'removed'; channel: Channel; message: Message; byBot: boolean }
  | { kind: 'reacted'; channel: Channel; message: Message }
  | { kind: 'ephemeral' | 'ephemeral-removed'; channel: Channel; ephemeral: Ephemeral }
  | { kind: 'channel'; channel: Channel }
  | { kind: 'user'; user: User }
  /** what a person has open: modals, the visible one last, and the home tab */
  | { kind: 'views'; userId: string; stack: readonly Json[]; home: Json | undefined }

export interface Changes {
  emit(change: Change): void
  /** Tells `listener` of every change from now on, in order; the answer stops it. */
  on(listener: (change: Change) => void): () => void
}
