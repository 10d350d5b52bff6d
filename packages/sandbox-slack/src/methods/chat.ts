import { editMessage, findMessage, postEphemeral, postMessage, removeMessage } from '../messages.ts'
import type { Message } from '../messages.ts'
import type { Channel } from '../workspace.ts'
import { toWireMessage } from '../wire.ts'
import { flagArg, refuse, requiredArg, textArg } from './call.ts'
import type { Call, Method } from './call.ts'
import { channelOf, requireUnrestricted, threadOf, writableChannelOf } from './channels.ts'
import { contentOf } from './content.ts'

/** The methods of `chat.*`. */
export const chatMethods = {
  'chat.postMessage': { scopes: ['chat:write'], run: post },
  'chat.update': { scopes: ['chat:write'], run: update },
  'chat.delete': { scopes: ['chat:write'], run: remove },
  'chat.postEphemeral': { scopes: ['chat:write'], run: postToOne },
  'chat.getPermalink': { scopes: [], run: permalink },
} satisfies Record<string, Method>

function post(call: Call) {
  const { args, workspace } = call
  const channel = writableChannelOf(call)
  const root = textArg(args, 'thread_ts')
  // Slack posts a reply to a message that is deleted, or never was, in the channel itself, without an error.
  const threadTs = root !== undefined && channel.messages.has(root) ? threadOf(channel, root) : undefined
  const { warnings, ...content } = contentOf(workspace, args)
  const isBroadcast = threadTs !== undefined && flagArg(args, 'reply_broadcast') === true
  requireUnrestricted(call, channel, { threadTs, isBroadcast })
  const userId = workspace.bot.userId
  const message = postMessage(workspace, channel, {
    ...content,
    text: content.text ?? '',
    userId,
    threadTs,
    isBroadcast,
  })
  const shown = toWireMessage(workspace, channel, message, { withMetadata: true })
  return { channel: channel.id, ts: message.ts, message: shown, ...warnings }
}

function update(call: Call) {
  const { args, workspace } = call
  const channel = writableChannelOf(call)
  const message = ownMessageOf(call, channel, 'cant_update_message')
  if (message.isEditWindowClosed) refuse('edit_window_closed')
  requireUnrestricted(call, channel, { isUpdate: true })
  const { warnings, ...content } = contentOf(workspace, args, { isUpdate: true })
  const isBroadcast = message.threadTs !== undefined && flagArg(args, 'reply_broadcast') === true
  editMessage(workspace, channel, message, { ...content, ...(isBroadcast ? { isBroadcast } : {}) })
  const shown = toWireMessage(workspace, channel, message, { withMetadata: true })
  return { channel: channel.id, ts: message.ts, text: message.text, message: shown, ...warnings }
}

function remove(call: Call) {
  const channel = writableChannelOf(call)
  const message = ownMessageOf(call, channel, 'cant_delete_message')
  removeMessage(call.workspace, channel, message, true)
  return { channel: channel.id, ts: message.ts }
}

function ownMessageOf({ args }: Call, channel: Channel, code: string): Message {
  const message = findMessage(channel, requiredArg(args, 'ts', 'message_not_found')) ?? refuse('message_not_found')
  return message.byBot ? message : refuse(code)
}

function postToOne(call: Call) {
  const { args, workspace } = call
  const channel = writableChannelOf(call)
  const to = requiredArg(args, 'user')
  if (!channel.members.has(to) || workspace.users.get(to)?.isDeactivated) refuse('user_not_in_channel')
  const threadTs = threadOf(channel, textArg(args, 'thread_ts'))
  requireUnrestricted(call, channel, { threadTs })
  const { warnings, ...content } = contentOf(workspace, args)
  const draft = { ...content, text: content.text ?? '', userId: workspace.bot.userId, threadTs }
  const { message } = postEphemeral(workspace, channel, to, draft)
  return { message_ts: message.ts, ...warnings }
}

function permalink(call: Call) {
  const { args, workspace } = call
  const channel = channelOf(call)
  const ts = requiredArg(args, 'message_ts', 'message_not_found')
  const message = findMessage(channel, ts) ?? refuse('message_not_found')
  const thread = message.threadTs === undefined ? '' : `?thread_ts=${message.threadTs}&cid=${channel.id}`
  const path = `archives/${channel.id}/p${ts.replace('.', '')}${thread}`
  return { channel: channel.id, permalink: `https://${workspace.team.domain}.slack.com/${path}` }
}
