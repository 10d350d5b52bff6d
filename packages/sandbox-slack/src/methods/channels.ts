import { openDirect } from '../workspace.ts'
import type { Channel, User, Workspace } from '../workspace.ts'
import { refuse, requiredArg } from './call.ts'
import type { Call } from './call.ts'

const USER_ID = /^U[A-Z0-9]+$/

/** The channel that the argument `channel` names. Private and direct ones are found only if the bot is a member. */
export const channelOf = ({ args, workspace }: Call): Channel =>
  channelNamed(workspace, requiredArg(args, 'channel', 'channel_not_found'))

function channelNamed(workspace: Workspace, id: string): Channel {
  const channel = workspace.channels.get(id)
  if (!channel || (channel.kind !== 'public' && !hasBot(workspace, channel))) return refuse('channel_not_found')
  return channel
}

/** The channel to write to. A user id means the direct channel with that person. */
export const writableChannelOf = (call: Call): Channel =>
  writableChannelNamed(call, requiredArg(call.args, 'channel', 'channel_not_found'))

/** The same for an id that is not in the argument `channel`. */
export function writableChannelNamed({ workspace, scopes }: Call, id: string): Channel {
  const person = USER_ID.test(id) ? workspace.users.get(id) : undefined
  if (person) return openDirect(workspace, reachable(person).id)
  const channel = channelNamed(workspace, id)
  if (channel.isArchived) refuse('is_archived')
  const isOpen = channel.kind === 'public' && scopes.has('chat:write.public')
  if (!hasBot(workspace, channel) && !isOpen) refuse('not_in_channel')
  return channel
}

/** Refuses an account that an app cannot open a direct channel with: another app's. */
export const reachable = (user: User): User => (user.role === 'bot' ? refuse('cannot_dm_bot') : user)

/**
 * Checks that the channel's restrictions allow a message, in a thread or outside. An update is refused only where
 * nothing may be posted at all.
 */
export function requireUnrestricted(
  { workspace }: Call,
  { restriction }: Channel,
  {
    threadTs,
    isBroadcast = false,
    isUpdate = false,
  }: { threadTs?: string | undefined; isBroadcast?: boolean; isUpdate?: boolean },
): void {
  if (restriction?.isReadOnly) refuse('restricted_action_read_only_channel')
  if (isUpdate) return
  const isInChannel = threadTs === undefined || isBroadcast
  if (restriction?.isThreadOnly && isInChannel) refuse('restricted_action_thread_only_channel')
  if (restriction?.isNonThreadable && threadTs !== undefined) refuse('restricted_action_non_threadable_channel')
  const lists = [
    isInChannel ? restriction?.postingRestrictedTo : undefined,
    threadTs === undefined ? undefined : restriction?.threadsRestrictedTo,
  ]
  if (lists.some((list) => list && !list.user?.includes(workspace.bot.userId))) refuse('restricted_action')
}

/** The channel to read messages from. Only a member may read. */
export function readableChannelOf(call: Call): Channel {
  const channel = channelOf(call)
  requireScope(call, channel.kind, 'history')
  if (!hasBot(call.workspace, channel)) refuse('not_in_channel')
  return channel
}

const SCOPE_FAMILY = { public: 'channels', private: 'groups', mpim: 'mpim', im: 'im' } as const

/** Checks the scope for the kind of channel, such as `groups:history` for private ones. */
export function requireScope({ scopes }: Call, kind: Channel['kind'], right: 'history' | 'read'): void {
  const needed = `${SCOPE_FAMILY[kind]}:${right}`
  if (!scopes.has(needed)) refuse('missing_scope', { needed, provided: [...scopes].join(',') })
}

export const hasBot = (workspace: Workspace, channel: Channel): boolean => channel.members.has(workspace.bot.userId)

/** Checks that a reply's `thread_ts` is a root. Slack's threads are one level deep. */
export function threadOf(channel: Channel, ts: string | undefined): string | undefined {
  if (ts === undefined) return undefined
  const root = channel.messages.get(ts)
  if (!root) return refuse('thread_not_found')
  return root.threadTs === undefined ? ts : refuse('cannot_reply_to_message')
}
