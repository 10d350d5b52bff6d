import { openDirect } from '../workspace.ts'
import type { Channel, Workspace } from '../workspace.ts'
import { refuse, requiredArg } from './call.ts'
import type { Call } from './call.ts'

const USER_ID = /^U[A-Z0-9]+$/

/** The channel that `channel` names, if the bot may know of it: private ones only from inside. */
export function channelOf({ args, workspace }: Call): Channel {
  const channel = workspace.channels.get(requiredArg(args, 'channel', 'channel_not_found'))
  if (!channel || (channel.kind === 'private' && !hasBot(workspace, channel))) return refuse('channel_not_found')
  return channel
}

/** The channel to write into; a user id means the direct channel with that person. */
export function writableChannelOf(call: Call): Channel {
  const { args, workspace, scopes } = call
  const id = requiredArg(args, 'channel', 'channel_not_found')
  if (USER_ID.test(id) && workspace.users.has(id)) return openDirect(workspace, id)
  const channel = channelOf(call)
  if (channel.isArchived) refuse('is_archived')
  const isOpen = channel.kind === 'public' && scopes.has('chat:write.public')
  if (!hasBot(workspace, channel) && !isOpen) refuse('not_in_channel')
  return channel
}

/** The channel to read messages from: only a member may. */
export function readableChannelOf(call: Call): Channel {
  const channel = channelOf(call)
  requireScope(call, channel.kind, 'history')
  if (!hasBot(call.workspace, channel)) refuse('not_in_channel')
  return channel
}

const SCOPE_FAMILY = { public: 'channels', private: 'groups', im: 'im' } as const

/** Slack grants reading per kind of channel: `groups:history` for private ones, and so on. */
export function requireScope({ scopes }: Call, kind: Channel['kind'], right: 'history' | 'read'): void {
  const needed = `${SCOPE_FAMILY[kind]}:${right}`
  if (!scopes.has(needed)) refuse('missing_scope', { needed, provided: [...scopes].join(',') })
}

export const hasBot = (workspace: Workspace, channel: Channel): boolean => channel.members.has(workspace.bot.userId)
