import { repliesTo } from '../messages.ts'
import type { Message } from '../messages.ts'
import type { Channel, Workspace } from '../workspace.ts'
import { toWireMessage } from '../wire.ts'
import { flagArg, refuse, requiredArg, textArg } from './call.ts'
import type { Args, Call, Method } from './call.ts'
import { readableChannelOf } from './channels.ts'
import { pageOf } from './paging.ts'

const HISTORY = ['channels:history', 'groups:history', 'mpim:history', 'im:history']

/** `conversations.history` and `replies`. */
export const historyMethods = {
  'conversations.history': { scopes: HISTORY, run: history },
  'conversations.replies': { scopes: HISTORY, run: replies },
} satisfies Record<string, Method>

const HISTORY_LIMIT_DEFAULT = 100
const REPLIES_LIMIT_DEFAULT = 1_000
const MESSAGES_LIMIT_MAX = 999

const byTs = (limitDefault: number) => ({
  limitDefault,
  limitMax: MESSAGES_LIMIT_MAX,
  keyOf: (message: Message) => message.ts,
})

/** Newest first: the roots, and replies that were also sent to the channel. */
function history(call: Call) {
  const { args, workspace } = call
  const channel = readableChannelOf(call)
  const shown = [...channel.messages.values()]
    .filter((message) => message.threadTs === undefined || message.isBroadcast)
    .filter(within(args))
    .filter(visible(workspace))
    .toReversed()
  const page = pageOf(args, shown, byTs(HISTORY_LIMIT_DEFAULT))
  const { oldest, latest } = { oldest: textArg(args, 'oldest'), latest: textArg(args, 'latest') }
  const range = { ...(oldest === undefined ? {} : { oldest }), ...(latest === undefined ? {} : { latest }) }
  return { messages: page.items.map(onWire(call, channel)), ...range, pin_count: 0, ...page.fields }
}

/** Oldest first, with the root first on every page. For the ts of a reply, only that reply. */
function replies(call: Call) {
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
  (message: Message) => {
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

/** A ts in whole microseconds. A double holds these exactly, but not seconds with six decimals. */
function microsOf(ts: string): number {
  const [seconds = '0', fraction = ''] = ts.split('.')
  return Number(seconds) * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}
