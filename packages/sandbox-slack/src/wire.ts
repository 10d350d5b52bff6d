import { repliesTo } from './messages.ts'
import type { Json } from './json.ts'
import type { Message } from './messages.ts'
import { toWireFile } from './files.ts'
import { teamOf } from './workspace.ts'
import type { Channel, User, Workspace } from './workspace.ts'

export interface WireOptions {
  withMetadata?: boolean
  /** the replies that the root's thread fields count; by default all */
  replies?: readonly Message[]
}

/** A message as the Web API returns it. */
export function toWireMessage(
  workspace: Workspace,
  channel: Channel,
  message: Message,
  options: WireOptions = {},
): Json {
  if (message.isTombstone) return { ...tombstone(message), ...threadFields(channel, message, options) }
  return {
    type: 'message',
    ...(message.isBroadcast ? { subtype: 'thread_broadcast' } : {}),
    user: message.userId,
    ts: message.ts,
    text: message.text,
    team: authorTeam(workspace, message),
    ...(message.byBot ? botFields(workspace) : {}),
    ...(message.blocks.length > 0 ? { blocks: message.blocks } : {}),
    ...(message.attachments.length > 0 ? { attachments: message.attachments } : {}),
    ...(message.files.length > 0 ? filesOf(workspace, message) : {}),
    ...(message.editedTs ? { edited: { user: message.userId, ts: message.editedTs } } : {}),
    ...(message.reactions.length > 0 ? { reactions: reactionsOf(message) } : {}),
    ...(options.withMetadata && message.metadata ? { metadata: message.metadata } : {}),
    ...threadFields(channel, message, options),
  }
}

function authorTeam(workspace: Workspace, { userId }: Message): string {
  const author = workspace.users.get(userId)
  return author ? teamOf(workspace, author).id : workspace.team.id
}

const filesOf = (workspace: Workspace, { files }: Message): Json => ({
  files: files.map((file) => toWireFile(workspace, file)),
  upload: true,
  display_as_bot: false,
})

const tombstone = ({ ts, text }: Message): Json => ({
  type: 'message',
  subtype: 'tombstone',
  user: 'USLACKBOT',
  hidden: true,
  ts,
  text,
})

const botFields = ({ bot, team }: Workspace): Json => ({
  bot_id: bot.botId,
  app_id: bot.appId,
  bot_profile: { id: bot.botId, app_id: bot.appId, name: bot.name, deleted: false, team_id: team.id },
})

const reactionsOf = ({ reactions }: Message): Json[] =>
  reactions.map(({ name, users }) => ({ name, users, count: users.length }))

function threadFields(channel: Channel, message: Message, { replies }: WireOptions): Json {
  if (message.threadTs !== undefined) {
    const parent = channel.messages.get(message.threadTs)
    return { thread_ts: message.threadTs, ...(parent ? { parent_user_id: parent.userId } : {}) }
  }
  const thread = replies ?? repliesTo(channel, message.ts)
  const last = thread.at(-1)
  if (!last) return {}
  const users = [...new Set(thread.map((reply) => reply.userId))]
  return {
    thread_ts: message.ts,
    reply_count: thread.length,
    reply_users: users,
    reply_users_count: users.length,
    latest_reply: last.ts,
    is_locked: false,
  }
}

/** A person as `users.info` shows them. A deactivated one has no time zone and no rights. The address needs a scope. */
export const toWireUser = (workspace: Workspace, user: User, scopes: ReadonlySet<string> = new Set()): Json => ({
  id: user.id,
  team_id: teamOf(workspace, user).id,
  name: user.name,
  deleted: user.isDeactivated ?? false,
  profile: {
    real_name: user.realName,
    display_name: user.role === 'bot' ? '' : user.realName,
    team: teamOf(workspace, user).id,
    ...(user.email !== undefined && scopes.has('users:read.email') ? { email: user.email } : {}),
    ...(user.id === workspace.bot.userId ? { bot_id: workspace.bot.botId, api_app_id: workspace.bot.appId } : {}),
  },
  ...(user.isDeactivated ? {} : { real_name: user.realName, ...TIME_ZONE, ...rightsOf(user) }),
  ...(user.team ? { is_stranger: !isMet(workspace, user) } : {}),
  is_bot: user.role === 'bot',
  is_app_user: false,
  updated: 1_700_000_000,
})

const TIME_ZONE = { tz: 'Etc/UTC', tz_label: 'Coordinated Universal Time', tz_offset: 0 }

// Whatever an outsider is in their own workspace: here they have no rights and are not a guest.
const rightsOf = ({ role, team }: User): Json => ({
  is_admin: !team && (role === 'admin' || role === 'owner'),
  is_owner: !team && role === 'owner',
  is_primary_owner: false,
  is_restricted: !team && role === 'guest',
  is_ultra_restricted: false,
})

/** Whether a person shares a channel with the bot. Slack calls an outsider a stranger only if they share none. */
const isMet = ({ channels, bot }: Workspace, { id }: User): boolean =>
  [...channels.values()].some(({ members }) => members.has(id) && members.has(bot.userId))

export function toWireChannel(workspace: Workspace, channel: Channel): Json {
  const shared = { id: channel.id, created: 1_700_000_000, is_archived: channel.isArchived, is_org_shared: false }
  if (channel.kind === 'im') {
    const user = [...channel.members].find((member) => member !== workspace.bot.userId)
    return { ...shared, is_im: true, user, is_user_deleted: false }
  }
  return {
    ...shared,
    name: channel.name,
    name_normalized: channel.name,
    is_channel: channel.kind === 'public',
    is_group: channel.kind === 'private',
    is_im: false,
    is_mpim: false,
    is_private: channel.kind === 'private',
    is_general: false,
    ...sharingOf(workspace, channel),
    is_member: channel.members.has(workspace.bot.userId),
    context_team_id: workspace.team.id,
    num_members: channel.members.size,
    topic: { value: '', creator: '', last_set: 0 },
    purpose: { value: '', creator: '', last_set: 0 },
  }
}

function sharingOf({ team }: Workspace, { sharedWith }: Channel): Json {
  if (!sharedWith) return { is_shared: false, is_ext_shared: false, is_pending_ext_shared: false }
  const others = sharedWith.map(({ id }) => id)
  return {
    is_shared: true,
    is_ext_shared: true,
    is_pending_ext_shared: false,
    shared_team_ids: [team.id, ...others],
    connected_team_ids: others,
    conversation_host_id: team.id,
  }
}
