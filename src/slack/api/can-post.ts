import { fieldOf, textOf } from '../../lib/raw-values.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { isRecord } from '../../lib/json.ts'
import { createClient, identityOf, type ClientOptions } from './client.ts'
import { BROKEN_ANSWER, classify, troubleOf, type SlackTrouble } from './errors.ts'

/**
 * `closed`: nothing can be posted there. `code`: Slack's error code, the one that a post would end with; or `is_moved`, of
 * an archived channel that goes on elsewhere.
 */
export type CanPost = { kind: 'open' } | { kind: 'closed'; code: string } | SlackTrouble

/**
 * Can the bot post in this channel? Asks Slack without posting. Needs `channels:read`, for private channels
 * `groups:read`. Slack does not show the bot a private channel or a group direct message that it is not in. Never throws.
 */
export function createCanPost(options: ClientOptions): (channel: ChannelId) => Promise<CanPost> {
  const client = createClient(options)
  const identity = identityOf(client)
  return async (channel) => {
    try {
      const answer = await client.apiCall('conversations.info', { channel })
      return await canPostIn(fieldOf(answer, 'channel'), async () => (await identity.known()).userId)
    } catch (error) {
      const { kind, code } = classify(error)
      return kind === 'channel-closed' ? { kind: 'closed', code } : troubleOf(error)
    }
  }
}

async function canPostIn(channel: unknown, ourselves: () => Promise<string | null>): Promise<CanPost> {
  if (!isRecord(channel)) return { kind: 'away', code: BROKEN_ANSWER }
  const closed = (code: string) => ({ kind: 'closed', code }) as const
  // Slack says it as a number.
  if (channel['is_archived'] === true) return closed(Number(channel['is_moved']) > 0 ? 'is_moved' : 'is_archived')
  // A direct message has no members, so `is_member` says nothing there. It has a `user`.
  if (channel['is_member'] === false && textOf(channel['user']) === null) return closed('not_in_channel')
  if (channel['is_read_only'] === true) return closed('restricted_action_read_only_channel')
  if (channel['is_thread_only'] === true) return closed('restricted_action_thread_only_channel')
  const restricted = fieldOf(channel['properties'], 'posting_restricted_to')
  const [types, users] = [fieldOf(restricted, 'type'), fieldOf(restricted, 'user')].map(listIn)
  if ([...types!, ...users!].length === 0) return { kind: 'open' }
  // The types are kinds of people, such as admins: an app is none of them.
  return users!.includes(await ourselves()) ? { kind: 'open' } : closed('restricted_action')
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
