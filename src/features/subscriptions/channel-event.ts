import { isChannelId, type ChannelId } from '../../domain/ids.ts'
import { listAt, textAt } from '../body.ts'
import type { Door } from '../context.ts'

/** What happens to channels, and Slack's own code for why nothing can be said there any more; null: it can be again. */
export const CHANNEL_EVENTS = {
  channel_archive: 'is_archived',
  channel_deleted: 'channel_not_found',
  channel_left: 'not_in_channel',
  channel_unarchive: null,
  group_archive: 'is_archived',
  group_deleted: 'channel_not_found',
  group_left: 'not_in_channel',
  group_unarchive: null,
  member_joined_channel: null,
} as const

export type ChannelEvent = keyof typeof CHANNEL_EVENTS

export const isChannelEvent = (type: string): type is ChannelEvent => Object.hasOwn(CHANNEL_EVENTS, type)

/** An event may be lost: then the next message that Slack refuses, or takes, says the same. Never throws. */
export async function hearOfChannel({ operations, log }: Door, type: ChannelEvent, body: unknown): Promise<void> {
  const channel = channelIn(body)
  if (channel === null || !concernsUs(type, body)) return
  try {
    const code = CHANNEL_EVENTS[type]
    await (code === null
      ? operations.subscriptions.channelOpened(channel)
      : operations.subscriptions.channelClosed(channel, code))
    log.info({ channel, event: type }, 'Slack tells of a channel')
  } catch (error) {
    log.warn({ err: error, channel, event: type }, 'what Slack tells of a channel could not be written down')
  }
}

function channelIn(body: unknown): ChannelId | null {
  const id = textAt(body, 'event', 'channel')
  return id !== null && isChannelId(id) ? id : null
}

/** Who joins is mostly somebody else. */
const concernsUs = (type: ChannelEvent, body: unknown): boolean =>
  type !== 'member_joined_channel' ||
  listAt(body, 'authorizations').some((one) => textAt(one, 'user_id') === textAt(body, 'event', 'user'))
