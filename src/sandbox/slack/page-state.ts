import { assertNever } from '../../lib/assert.ts'
import type { Change } from './changes.ts'
import type { Json } from './json.ts'
import type { Message } from './messages.ts'
import { toWireMessage } from './wire.ts'
import type { Channel, Ephemeral, Workspace } from './workspace.ts'

/** The page gets so many of a channel's newest messages, replies included. */
export const PAGE_MESSAGES_MAX = 1_000

/** Everything the page shows, at one moment; no token and no secret. */
export function pageState(workspace: Workspace): Json {
  return {
    team: workspace.team,
    bot: workspace.bot,
    users: [...workspace.users.values()],
    channels: [...workspace.channels.values()].map((channel) => ({
      ...toPageChannel(workspace, channel),
      messages: messagesOf(workspace, channel),
    })),
  }
}

function messagesOf(workspace: Workspace, channel: Channel): Json[] {
  const newest = [...channel.messages.values()].slice(-PAGE_MESSAGES_MAX)
  const own = workspace.ephemerals.filter(({ channelId }) => channelId === channel.id).slice(-PAGE_MESSAGES_MAX)
  return [
    ...newest.map((message) => toPageMessage(workspace, channel, message)),
    ...own.map((ephemeral) => toPageEphemeral(workspace, channel, ephemeral)),
  ]
}

/** One change as the page is told of it. A thread's root is told again by nobody: the page counts replies itself. */
export function pageChange(workspace: Workspace, change: Change): Json {
  const { channel } = change
  switch (change.kind) {
    case 'posted':
    case 'edited':
    case 'reacted':
      return { kind: 'message', message: toPageMessage(workspace, channel, change.message) }
    case 'removed':
      if (change.message.isTombstone) {
        return { kind: 'message', message: toPageMessage(workspace, channel, change.message) }
      }
      return { kind: 'removed', channel: channel.id, ts: change.message.ts }
    case 'ephemeral':
      return { kind: 'message', message: toPageEphemeral(workspace, channel, change.ephemeral) }
    case 'ephemeral-removed':
      return { kind: 'removed', channel: channel.id, ts: change.ephemeral.message.ts }
    case 'channel':
      return { kind: 'channel', channel: toPageChannel(workspace, channel) }
    default:
      return assertNever(change)
  }
}

const toPageChannel = (workspace: Workspace, { id, name, kind, isArchived, members }: Channel): Json => ({
  id,
  name,
  kind,
  isArchived,
  hasBot: members.has(workspace.bot.userId),
  members: [...members],
})

const toPageMessage = (workspace: Workspace, channel: Channel, message: Message): Json => ({
  ...toWireMessage(workspace, channel, message, { replies: [] }),
  channel: channel.id,
  root: message.threadTs ?? null,
  isBroadcast: message.isBroadcast,
  isTombstone: message.isTombstone,
  editCount: message.editCount,
})

const toPageEphemeral = (workspace: Workspace, channel: Channel, { userId, message }: Ephemeral): Json => ({
  ...toPageMessage(workspace, channel, message),
  onlyFor: userId,
})
