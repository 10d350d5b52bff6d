import { isJson, listOf } from './json.ts'
import type { Json } from './json.ts'
import type { Channel, Ephemeral, File, Message, Workspace } from './model.ts'

export type { Message } from './model.ts'

export interface Draft {
  userId: string
  text: string
  threadTs?: string | undefined
  botName?: string | undefined
  isBroadcast?: boolean
  blocks?: Json[]
  attachments?: Json[]
  metadata?: Json | undefined
  files?: File[]
}

/** Adds a message to a channel, with a ts greater than all others in the channel. */
export function postMessage(workspace: Workspace, channel: Channel, draft: Draft): Message {
  const message = toMessage(workspace, channel, draft)
  channel.messages.set(message.ts, message)
  if (message.threadTs !== undefined) {
    channel.threads.set(message.threadTs, [...repliesTo(channel, message.threadTs), message])
  }
  workspace.changes.emit({ kind: 'posted', channel, message, byBot: message.byBot })
  return message
}

/** Shows a message to one person only. It does not appear in the history. */
export function postEphemeral(workspace: Workspace, channel: Channel, userId: string, draft: Draft): Ephemeral {
  const ephemeral = { channelId: channel.id, userId, message: toMessage(workspace, channel, draft) }
  workspace.ephemerals.push(ephemeral)
  workspace.changes.emit({ kind: 'ephemeral', channel, ephemeral })
  return ephemeral
}

/** Edits an ephemeral message, or removes it if there is no edit. */
export function editEphemeral(workspace: Workspace, channel: Channel, ephemeral: Ephemeral, edit?: Edit): void {
  if (edit) applyEdit(workspace, ephemeral.message, edit)
  else workspace.ephemerals = workspace.ephemerals.filter((one) => one !== ephemeral)
  workspace.changes.emit({ kind: edit ? 'ephemeral' : 'ephemeral-removed', channel, ephemeral })
}

function toMessage(workspace: Workspace, channel: Channel, draft: Draft): Message {
  return {
    ts: nextTs(workspace, channel),
    ...(draft.threadTs === undefined ? {} : { threadTs: draft.threadTs }),
    isBroadcast: draft.isBroadcast ?? false,
    userId: draft.userId,
    byBot: draft.userId === workspace.bot.userId,
    ...(draft.botName === undefined ? {} : { botName: draft.botName }),
    text: draft.text,
    blocks: completeBlocks(workspace, draft.blocks ?? []),
    attachments: completeAttachments(workspace, draft.attachments ?? []),
    ...(draft.metadata === undefined ? {} : { metadata: draft.metadata }),
    files: draft.files ?? [],
    postedAtMs: workspace.clock.now(),
    editCount: 0,
    isEditWindowClosed: false,
    isTombstone: false,
    reactions: [],
  }
}

export interface Edit {
  text?: string
  blocks?: Json[]
  attachments?: Json[]
  metadata?: Json | undefined
  isBroadcast?: boolean
}

/** Edits a message. Fields that the edit leaves out stay unchanged. */
export function editMessage(workspace: Workspace, channel: Channel, message: Message, edit: Edit): void {
  applyEdit(workspace, message, edit)
  message.editCount += 1
  message.editedTs = nextTs(workspace, channel)
  workspace.changes.emit({ kind: 'edited', channel, message, byBot: message.byBot })
}

function applyEdit(workspace: Workspace, message: Message, edit: Edit): void {
  if (edit.text !== undefined) message.text = edit.text
  if (edit.blocks) message.blocks = completeBlocks(workspace, edit.blocks)
  if (edit.attachments) message.attachments = completeAttachments(workspace, edit.attachments)
  if (edit.isBroadcast !== undefined) message.isBroadcast = edit.isBroadcast
  if (edit.metadata && Object.keys(edit.metadata).length === 0) delete message.metadata
  else if (edit.metadata) message.metadata = edit.metadata
}

/** Removes a message. As in Slack, a root with replies becomes a tombstone, so that its thread stays. */
export function removeMessage(workspace: Workspace, channel: Channel, message: Message, byBot: boolean): void {
  if (repliesTo(channel, message.ts).length > 0) entomb(message)
  else forget(channel, message)
  workspace.changes.emit({ kind: 'removed', channel, message, byBot })
}

function entomb(message: Message): void {
  Object.assign(message, {
    isTombstone: true,
    text: 'This message was deleted.',
    blocks: [],
    attachments: [],
    files: [],
  })
  delete message.metadata
}

function forget(channel: Channel, { ts, threadTs }: Message): void {
  channel.messages.delete(ts)
  if (threadTs === undefined) return
  const left = repliesTo(channel, threadTs).filter((reply) => reply.ts !== ts)
  channel.threads.set(threadTs, left)
}

export const repliesTo = (channel: Channel, rootTs: string): Message[] => channel.threads.get(rootTs) ?? []

/** Finds a message; tombstones are not found. */
export function findMessage(channel: Channel, ts: string): Message | undefined {
  const message = channel.messages.get(ts)
  return message?.isTombstone ? undefined : message
}

const MICROS_PER_S = 1_000_000

function nextTs(workspace: Workspace, channel: Channel): string {
  channel.lastTsMicros = Math.max(channel.lastTsMicros + 1, Math.floor(workspace.clock.now() * 1_000))
  const seconds = Math.floor(channel.lastTsMicros / MICROS_PER_S)
  return `${seconds}.${String(channel.lastTsMicros % MICROS_PER_S).padStart(6, '0')}`
}

const completeAttachments = (workspace: Workspace, attachments: readonly Json[]): Json[] =>
  attachments.map((attachment, index) => ({
    id: index + 1,
    fallback: '[no preview available]',
    ...attachment,
    ...(typeof attachment['color'] === 'string' ? { color: attachment['color'].replace('#', '') } : {}),
    ...(Array.isArray(attachment['blocks']) ? { blocks: completeBlocks(workspace, listOf(attachment['blocks'])) } : {}),
  }))

/** Blocks as Slack returns them: with the ids and defaults that the sender left out. */
export function completeBlocks(workspace: Workspace, blocks: readonly Json[]): Json[] {
  return blocks.map((block) => ({ block_id: newId(workspace), ...completeObject(workspace, block) }))
}

const ACTION_TYPES = /^(?:button|overflow|checkboxes|radio_buttons|.*_select|.*picker|.*_input)$/

/** Text and elements with the ids and defaults that the sender left out. */
export function complete(workspace: Workspace, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => complete(workspace, one))
  return isJson(value) ? completeObject(workspace, value) : value
}

function completeObject(workspace: Workspace, value: Json): Json {
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, complete(workspace, inner)])
  return { ...defaultsOf(workspace, value), ...Object.fromEntries(entries) }
}

function defaultsOf(workspace: Workspace, { type }: Json): Json {
  if (type === 'plain_text') return { emoji: true }
  if (type === 'mrkdwn') return { verbatim: false }
  return typeof type === 'string' && ACTION_TYPES.test(type) ? { action_id: newId(workspace) } : {}
}

const newId = (workspace: Workspace): string => `s${workspace.nextNumber().toString(36).padStart(4, '0')}`
