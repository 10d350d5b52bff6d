import { assertNever } from '../../lib/assert.ts'
import type { AppWords } from './app-words.ts'
import type { Change } from './changes.ts'
import type { Json } from './json.ts'
import type { Message } from './messages.ts'
import type { Views } from './views.ts'
import { toWireMessage } from './wire.ts'
import type { Channel, Ephemeral, Workspace } from './workspace.ts'

/** How many of a channel's newest messages the page gets, replies included. */
export const PAGE_MESSAGES_MAX = 1_000

/** The current state that the page shows, without tokens and secrets. */
export function pageState(workspace: Workspace, views: Views, app: AppWords): Json {
  const users = [...workspace.users.values()]
  const shown = users.map(({ id }) => [id, toPageViews({ stack: views.stack(id), home: views.home(id) })])
  return {
    nowMs: workspace.clock.now(),
    team: workspace.team,
    bot: workspace.bot,
    app,
    users,
    userGroups: workspace.userGroups.map(({ id, handle, name }) => ({ id, handle, name })),
    views: Object.fromEntries(shown),
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

/** A change in the page's form. A reply does not send its root again: the page counts replies itself. */
export function pageChange(workspace: Workspace, change: Change): Json {
  switch (change.kind) {
    case 'posted':
    case 'edited':
    case 'reacted':
      return { kind: 'message', message: toPageMessage(workspace, change.channel, change.message) }
    case 'removed':
      return pageRemoval(workspace, change)
    case 'ephemeral':
      return { kind: 'message', message: toPageEphemeral(workspace, change.channel, change.ephemeral) }
    case 'ephemeral-removed':
      return { kind: 'removed', channel: change.channel.id, ts: change.ephemeral.message.ts }
    case 'moved':
      return { kind: 'moved', from: change.from, channel: toPageChannel(workspace, change.channel) }
    case 'channel':
      return { kind: 'channel', channel: toPageChannel(workspace, change.channel) }
    case 'user':
      return { kind: 'user', user: change.user }
    case 'views':
      return { kind: 'views', user: change.userId, ...toPageViews(change) }
    default:
      return assertNever(change)
  }
}

function pageRemoval(workspace: Workspace, { channel, message }: { channel: Channel; message: Message }): Json {
  if (message.isTombstone) return { kind: 'message', message: toPageMessage(workspace, channel, message) }
  return { kind: 'removed', channel: channel.id, ts: message.ts }
}

const toPageViews = ({ stack, home }: { stack: readonly Json[]; home: Json | undefined }): Json => ({
  stack,
  home: home ?? null,
})

/** A channel in the page's form. */
export const toPageChannel = (
  workspace: Workspace,
  { id, name, kind, isArchived, members, sharedWith }: Channel,
): Json => ({
  id,
  name,
  kind,
  isArchived,
  isShared: sharedWith !== undefined,
  hasBot: members.has(workspace.bot.userId),
  members: [...members],
})

const toPageMessage = (workspace: Workspace, channel: Channel, message: Message): Json => ({
  ...toWireMessage(workspace, channel, message, { replies: [] }),
  user: message.userId,
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
