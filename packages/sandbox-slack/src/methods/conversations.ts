import { join } from '../channel-acts.ts'
import { toListedChannel, toWireChannel, toWireChannelInfo } from '../wire.ts'
import { findDirect, openDirect } from '../workspace.ts'
import type { Channel, Workspace } from '../workspace.ts'
import { flagArg, refuse, requiredArg, textArg } from './call.ts'
import type { Call, Method } from './call.ts'
import { channelOf, reachable, requireScope } from './channels.ts'
import { pageOf } from './paging.ts'

const READ = ['channels:read', 'groups:read', 'mpim:read', 'im:read']

/** The methods about channels: `conversations.*`, except those that read messages, and `users.conversations`. */
export const conversationMethods = {
  'conversations.info': { scopes: READ, run: info },
  'conversations.list': { scopes: READ, run: list },
  'conversations.members': { scopes: READ, run: members },
  'conversations.join': { scopes: ['channels:join'], run: joinChannel },
  'conversations.open': { scopes: ['im:write'], run: open },
  'users.conversations': { scopes: READ, run: channelsOfUser },
} satisfies Record<string, Method>

const LIST_LIMIT_DEFAULT = 100
const LIST_LIMIT_MAX = 1_000

function info(call: Call) {
  const channel = channelOf(call)
  requireScope(call, channel.kind, 'read')
  const locale = flagArg(call.args, 'include_locale') ? { locale: 'en-US' } : {}
  const count = flagArg(call.args, 'include_num_members') ? { num_members: channel.members.size } : {}
  return { channel: { ...toWireChannelInfo(call.workspace, channel), ...locale, ...count } }
}

function list(call: Call) {
  const { workspace } = call
  const page = channelPage(call, ({ kind, members: who }) => kind === 'public' || who.has(workspace.bot.userId))
  return { ...page, channels: page.channels.map((channel) => toListedChannel(workspace, channel)) }
}

/** A person's channels; the bot's own if no person is given. Private ones only if the bot is in them too. */
function channelsOfUser(call: Call) {
  const { args, workspace } = call
  const { userId } = workspace.bot
  const user = workspace.users.get(textArg(args, 'user') ?? userId) ?? refuse('user_not_found')
  const page = channelPage(call, ({ kind, members: who }) => who.has(user.id) && (kind === 'public' || who.has(userId)))
  return { ...page, channels: page.channels.map((channel) => toWireChannel(workspace, channel)) }
}

const KIND_BY_TYPE = new Map([
  ['public_channel', 'public'],
  ['private_channel', 'private'],
  ['mpim', 'mpim'],
  ['im', 'im'],
] as const)

function channelPage(call: Call, isShown: (channel: Channel) => boolean) {
  const { args, workspace } = call
  const kinds = kindsOf(textArg(args, 'types') ?? 'public_channel')
  for (const kind of kinds) requireScope(call, kind, 'read')
  const channels = [...workspace.channels.values()]
    .filter((channel) => kinds.has(channel.kind) && isShown(channel))
    .filter((channel) => !channel.isArchived || flagArg(args, 'exclude_archived') !== true)
  const options = { limitDefault: LIST_LIMIT_DEFAULT, limitMax: LIST_LIMIT_MAX, keyOf: ({ id }: Channel) => id }
  const { items, fields } = pageOf(args, channels, options)
  return { channels: items, response_metadata: fields.response_metadata }
}

function kindsOf(types: string): Set<Channel['kind']> {
  const known: ReadonlyMap<string, Channel['kind']> = KIND_BY_TYPE
  const asked = types.split(',').map((type) => type.trim())
  return new Set(asked.map((type) => known.get(type) ?? refuse('invalid_types')))
}

function members(call: Call) {
  const channel = channelOf(call)
  requireScope(call, channel.kind, 'read')
  const options = { limitDefault: LIST_LIMIT_DEFAULT, limitMax: LIST_LIMIT_MAX, keyOf: (id: string) => id }
  const page = pageOf(call.args, [...channel.members].filter(isActive(call.workspace)), options)
  const { response_metadata: cursor } = page.fields
  return { members: page.items, response_metadata: cursor }
}

/** Deactivated people stay in their channels, but are not listed until they are reactivated. */
const isActive =
  ({ users }: Workspace) =>
  (id: string): boolean =>
    users.get(id)?.isDeactivated !== true

const ALREADY_IN = {
  warning: 'already_in_channel',
  response_metadata: { warnings: ['already_in_channel'] },
}

/** The bot can join only public channels by itself. */
function joinChannel(call: Call) {
  const { workspace, events } = call
  const channel = channelOf(call)
  if (channel.kind !== 'public') refuse('method_not_supported_for_channel_type')
  if (channel.isArchived) refuse('is_archived')
  const isNew = join({ workspace, events }, channel)
  return { channel: toWireChannelInfo(workspace, channel), ...(isNew ? {} : ALREADY_IN) }
}

/** Opens a direct channel with one person. Group messages are not implemented. */
function open({ args, workspace }: Call) {
  const ids = requiredArg(args, 'users', 'users_list_not_supplied').split(',')
  const [id = ''] = ids
  if (ids.length > 1) refuse('not_implemented')
  const user = workspace.users.get(id) ?? refuse('user_not_found')
  if (user.isHidden) refuse('user_not_visible')
  reachable(user)
  if (user.isDeactivated) refuse('user_disabled')
  const isOpen = findDirect(workspace, [id, workspace.bot.userId]) !== undefined
  const channel = openDirect(workspace, id)
  const shown = flagArg(args, 'return_im') ? toWireChannel(workspace, channel) : { id: channel.id }
  return { channel: shown, ...(isOpen ? { no_op: true, already_open: true } : {}) }
}
