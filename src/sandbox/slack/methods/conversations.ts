import { repliesTo } from '../messages.ts'
import type { Json } from '../json.ts'
import type { Message } from '../messages.ts'
import { openDirect } from '../workspace.ts'
import type { Channel, Workspace } from '../workspace.ts'
import { toWireChannel, toWireMessage } from '../wire.ts'
import { flagArg, refuse, requiredArg, textArg } from './call.ts'
import type { Args, Call, Method } from './call.ts'
import { channelOf, hasBot, readableChannelOf, requireScope } from './channels.ts'
import { pageOf } from './paging.ts'

const HISTORY = ['channels:history', 'groups:history', 'im:history']
const READ = ['channels:read', 'groups:read', 'im:read']

/** The methods of `conversations.*`. */
export const conversationMethods: Record<string, Method> = {
  'conversations.history': { scopes: HISTORY, run: history },
  'conversations.replies': { scopes: HISTORY, run: replies },
  'conversations.info': { scopes: READ, run: info },
  'conversations.list': { scopes: READ, run: list },
  'conversations.members': { scopes: READ, run: members },
  'conversations.open': { scopes: ['im:write'], run: open },
}

const HISTORY_LIMIT_DEFAULT = 100
const REPLIES_LIMIT_DEFAULT = 1_000
const MESSAGES_LIMIT_MAX = 999
const LIST_LIMIT_DEFAULT = 100
const LIST_LIMIT_MAX = 1_000

const byTs = (limitDefault: number) => ({
  limitDefault,
  limitMax: MESSAGES_LIMIT_MAX,
  keyOf: (message: Message) => message.ts,
})

/** Newest first: the roots, and the replies that were also sent to the channel. */
function history(call: Call): Json {
  const { args, workspace } = call
  const channel = readableChannelOf(call)
  const shown = [...channel.messages.values()]
    .filter((message) => message.threadTs === undefined || message.isBroadcast)
    .filter(within(args))
    .filter(visible(workspace))
    .toReversed()
  const page = pageOf(args, shown, byTs(HISTORY_LIMIT_DEFAULT))
  return { messages: page.items.map(onWire(call, channel)), pin_count: 0, ...page.fields }
}

/** Oldest first, the root at the head of every page. A reply's own ts answers that reply alone. */
function replies(call: Call): Json {
  const { args, workspace } = call
  const channel = readableChannelOf(call)
  const root = channel.messages.get(requiredArg(args, 'ts', 'thread_not_found'))
  if (!root || !visible(workspace)(root)) return refuse('thread_not_found')
  const thread = repliesTo(channel, root.ts).filter(within(args)).filter(visible(workspace))
  const page = pageOf(args, thread, byTs(REPLIES_LIMIT_DEFAULT))
  return { messages: [root, ...page.items].map(onWire(call, channel)), ...page.fields }
}

const onWire =
  ({ args, workspace }: Call, channel: Channel) =>
  (message: Message): Json => {
    const seen = repliesTo(channel, message.ts).filter(visible(workspace))
    const withMetadata = flagArg(args, 'include_all_metadata') === true
    return toWireMessage(workspace, channel, message, { withMetadata, replies: seen })
  }

const visible =
  ({ clock, historyLagMs }: Workspace) =>
  ({ postedAtMs }: Message): boolean =>
    historyLagMs === 0 || clock.now() - postedAtMs >= historyLagMs

const TS = /^\d+(?:\.\d+)?$/

function within(args: Args): (message: Message) => boolean {
  const oldest = tsOf(args, 'oldest') ?? 0
  const latest = tsOf(args, 'latest') ?? Number.POSITIVE_INFINITY
  const isInclusive = flagArg(args, 'inclusive') === true
  return ({ ts }) => {
    const micros = microsOf(ts)
    return isInclusive ? micros >= oldest && micros <= latest : micros > oldest && micros < latest
  }
}

function tsOf(args: Args, name: string): number | undefined {
  const text = textArg(args, name)
  if (text === undefined) return undefined
  return TS.test(text) ? microsOf(text) : refuse(`invalid_ts_${name}`)
}

/** A ts as whole microseconds: seconds with six decimals do not fit a double exactly, these do. */
function microsOf(ts: string): number {
  const [seconds = '0', fraction = ''] = ts.split('.')
  return Number(seconds) * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

function info(call: Call): Json {
  const channel = channelOf(call)
  requireScope(call, channel.kind, 'read')
  const count = flagArg(call.args, 'include_num_members') ? { num_members: channel.members.size } : {}
  return { channel: { ...toWireChannel(call.workspace, channel), ...count } }
}

const KIND_BY_TYPE = new Map([
  ['public_channel', 'public'],
  ['private_channel', 'private'],
  ['im', 'im'],
] as const)

function list(call: Call): Json {
  const { args, workspace } = call
  const kinds = kindsOf(textArg(args, 'types') ?? 'public_channel')
  for (const kind of kinds) requireScope(call, kind, 'read')
  const channels = [...workspace.channels.values()]
    .filter((channel) => kinds.has(channel.kind))
    .filter((channel) => channel.kind === 'public' || hasBot(workspace, channel))
    .filter((channel) => !channel.isArchived || flagArg(args, 'exclude_archived') !== true)
  const options = { limitDefault: LIST_LIMIT_DEFAULT, limitMax: LIST_LIMIT_MAX, keyOf: ({ id }: Channel) => id }
  const page = pageOf(args, channels, options)
  const { response_metadata: cursor } = page.fields
  return { channels: page.items.map((channel) => toWireChannel(workspace, channel)), response_metadata: cursor }
}

function kindsOf(types: string): Set<Channel['kind']> {
  const known: ReadonlyMap<string, Channel['kind']> = KIND_BY_TYPE
  const asked = types.split(',').map((type) => type.trim())
  return new Set(asked.filter((type) => type !== 'mpim').map((type) => known.get(type) ?? refuse('invalid_types')))
}

function members(call: Call): Json {
  const channel = channelOf(call)
  requireScope(call, channel.kind, 'read')
  const options = { limitDefault: LIST_LIMIT_DEFAULT, limitMax: LIST_LIMIT_MAX, keyOf: (id: string) => id }
  const page = pageOf(call.args, [...channel.members], options)
  const { response_metadata: cursor } = page.fields
  return { members: page.items, response_metadata: cursor }
}

/** Opens a direct channel with one person; groups of people are not played here. */
function open({ args, workspace }: Call): Json {
  const ids = requiredArg(args, 'users', 'users_list_not_supplied').split(',')
  const [id = ''] = ids
  if (ids.length > 1) refuse('not_implemented')
  if (!workspace.users.has(id)) refuse('user_not_found')
  const isOpen = [...workspace.channels.values()].some(({ kind, members: who }) => kind === 'im' && who.has(id))
  const channel = openDirect(workspace, id)
  const shown = flagArg(args, 'return_im') ? toWireChannel(workspace, channel) : { id: channel.id }
  return { channel: shown, ...(isOpen ? { no_op: true, already_open: true } : {}) }
}
