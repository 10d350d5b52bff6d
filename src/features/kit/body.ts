import { createHash } from 'node:crypto'
import type { StringIndexed } from '@slack/bolt'
import { isChannelId, type ChannelId, type MessageTs } from '../../domain/ids.ts'
import { fieldOf } from '../../lib/raw-values.ts'
import { isRecord } from '../../lib/json.ts'
import { isMessageTs } from '../../slack/api/errors.ts'
import type { Requester, Target } from '../../projects/outcomes.ts'
import { jsonOf } from './values.ts'

// Reads the bodies that Slack sends: commands, interactions and events. Any field may be missing.

/** The body with former ids of channels replaced by the current ones, also in a form's metadata and in texts. */
export function withPresentIds(body: StringIndexed, moved: ReadonlyMap<string, string>): StringIndexed {
  const text = moved.size === 0 ? '' : JSON.stringify(body)
  if (![...moved.keys()].some((id) => text.includes(id))) return body
  const present = (value: string) => value.replaceAll(CHANNEL_ID, (id) => moved.get(id) ?? id)
  const read: unknown = JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? present(value) : value))
  return isRecord(read) ? read : body
}

const CHANNEL_ID = /\b[CG][A-Z0-9]{2,}\b/g

/**
 * The requester of any body. A missing user becomes an empty id, which Slack does not know, so nothing is permitted.
 */
export const requesterOf = (body: unknown, via: Requester['via']): Requester => ({
  user: userOf(body) ?? '',
  team: teamOf(body),
  channel: isGroupMessage(body) ? null : channelOf(body),
  via,
  interactionKey: interactionKeyOf(body),
})

/** The requester of a form; their channel is the one where the form was opened. */
export const requesterIn = (body: unknown, channel: ChannelId | null): Requester => ({
  ...requesterOf(body, 'modal'),
  channel,
})

/** The channel where a form was opened, if its metadata is JSON; null: the metadata names none. */
export function formChannel(body: unknown): ChannelId | null {
  const channel = textAt(jsonOf(textAt(body, 'view', 'private_metadata') ?? ''), 'channel')
  return channel !== null && isChannelId(channel) ? channel : null
}

/** The text at a path of fields; null if it is not text or empty. NUL is removed, since PostgreSQL cannot store it. */
export function textAt(body: unknown, ...path: readonly string[]): string | null {
  const value = path.reduce<unknown>(fieldOf, body)
  return (typeof value === 'string' && value.replaceAll('\0', '')) || null
}

/** The list at a path of fields; empty if there is none. */
export function listAt(body: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = path.reduce<unknown>(fieldOf, body)
  return Array.isArray(found) ? found : []
}

export const userOf = (body: unknown): string | null =>
  textAt(body, 'user_id') ?? textAt(body, 'user', 'id') ?? textAt(body, 'event', 'user')

export function channelOf(body: unknown): ChannelId | null {
  const id =
    textAt(body, 'channel_id') ??
    textAt(body, 'channel', 'id') ??
    textAt(body, 'container', 'channel_id') ??
    textAt(body, 'event', 'channel')
  return id !== null && isChannelId(id) ? id : null
}

/** A group direct message has the id of a channel, but no app can be in it. */
const isGroupMessage = (body: unknown): boolean =>
  (textAt(body, 'channel_name') ?? textAt(body, 'channel', 'name') ?? '').startsWith('mpdm-')

/** The thread that an answer belongs in; null for a root message, and for the channel itself. */
export function threadOf(body: unknown): MessageTs | null {
  const own = textAt(body, 'container', 'message_ts') ?? textAt(body, 'message', 'ts') ?? textAt(body, 'event', 'ts')
  const thread = threadTsOf(body)
  return thread === own ? null : thread
}

/** The message that was acted on; for a reply in a thread, the thread's root message. */
export function messageOf(body: unknown): Extract<Target, { kind: 'message' }> | null {
  const channel = channelOf(body)
  const ts = threadTsOf(body) ?? textAt(body, 'message', 'ts') ?? textAt(body, 'message_ts')
  return channel !== null && isMessageTs(ts) ? { kind: 'message', channel, ts } : null
}

function threadTsOf(body: unknown): MessageTs | null {
  const ts =
    textAt(body, 'container', 'thread_ts') ?? textAt(body, 'message', 'thread_ts') ?? textAt(body, 'event', 'thread_ts')
  return isMessageTs(ts) ? ts : null
}

// The requester's own workspace. In a shared channel, the message or event may belong to another workspace.
const teamOf = (body: unknown): string | null =>
  textAt(body, 'user', 'team_id') ??
  textAt(body, 'event', 'user_team') ??
  textAt(body, 'event', 'team') ??
  textAt(body, 'team_id')

/** Identifies one interaction: equal for a redelivery and for a replay of the same signed request. */
function interactionKeyOf(body: unknown): string {
  if (textAt(body, 'type') === 'view_submission') {
    return `view:${textAt(body, 'view', 'id') ?? ''}:${textAt(body, 'view', 'hash') ?? ''}`
  }
  return textAt(body, 'trigger_id') ?? textAt(body, 'event_id') ?? `body:${bodyDigest(body)}`
}

export const bodyDigest = (body: unknown): string =>
  createHash('sha256')
    .update(isRecord(body) ? JSON.stringify(body) : String(body))
    .digest('hex')
