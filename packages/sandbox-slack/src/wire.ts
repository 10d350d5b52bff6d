import { repliesTo } from './messages.ts'
import type { Message } from './messages.ts'
import type { Bot } from './model.ts'
import { toWireFile } from './files.ts'
import { homeIdOf } from './workspace.ts'
import type { Channel, Workspace } from './workspace.ts'

export { toListedChannel, toWireChannel, toWireChannelInfo } from './wire-channel.ts'
export { toWireUser } from './wire-user.ts'

export interface WireOptions {
  withMetadata?: boolean
  /** the replies that the root's thread fields count; by default all */
  replies?: readonly Message[]
}

/** A message as the Web API returns it. */
export const toWireMessage = (workspace: Workspace, channel: Channel, message: Message, options: WireOptions = {}) => ({
  ...bareMessage(workspace, channel, message, options),
  ...(message.isBroadcast ? rootOf(workspace, channel, message) : {}),
})

/** The root of a broadcast reply, as part of the reply. */
function rootOf(workspace: Workspace, channel: Channel, { threadTs = '' }: Message) {
  const root = channel.messages.get(threadTs)
  return root ? { root: bareMessage(workspace, channel, root, {}) } : {}
}

function bareMessage(workspace: Workspace, channel: Channel, message: Message, options: WireOptions) {
  if (message.isTombstone) return { ...tombstone(message), ...threadFields(channel, message, options) }
  return {
    type: 'message',
    ...authorOf(workspace, message),
    ...(message.isBroadcast ? { subtype: 'thread_broadcast' } : {}),
    ts: message.ts,
    text: message.text,
    ...(message.blocks.length > 0 ? { blocks: message.blocks } : {}),
    ...(message.attachments.length > 0 ? { attachments: message.attachments } : {}),
    ...(message.files.length > 0 ? filesOf(workspace, message) : {}),
    ...(message.editedTs ? { edited: { user: message.userId, ts: message.editedTs } } : {}),
    ...(message.reactions.length > 0 ? { reactions: reactionsOf(message) } : {}),
    ...(options.withMetadata && message.metadata ? { metadata: message.metadata } : {}),
    ...threadFields(channel, message, options),
  }
}

/** The author of a message: a person, an app with its user, or a name without a user. */
export function authorOf(workspace: Workspace, { userId, botName }: Message) {
  const author = workspace.users.get(userId)
  const team = author ? homeIdOf(workspace, author) : workspace.team.id
  const bot = author?.bot ? botFields(author.realName, author.bot, workspace.team.id) : {}
  const shown = botName === undefined ? { user: userId } : { subtype: 'bot_message', username: botName }
  return { ...shown, team, ...bot }
}

const filesOf = (workspace: Workspace, { files }: Message) => ({
  files: files.map((file) => toWireFile(workspace, file)),
  upload: true,
  display_as_bot: false,
})

const tombstone = ({ ts, text }: Message) => ({
  type: 'message',
  subtype: 'tombstone',
  user: 'USLACKBOT',
  hidden: true,
  ts,
  text,
})

const botFields = (name: string, { botId, appId }: Bot, teamId: string) => ({
  bot_id: botId,
  app_id: appId,
  bot_profile: { id: botId, app_id: appId, name, deleted: false, updated: 1_700_000_000, team_id: teamId },
})

const reactionsOf = ({ reactions }: Message) =>
  reactions.map(({ name, users }) => ({ name, users, count: users.length }))

function threadFields(channel: Channel, message: Message, { replies }: WireOptions) {
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
