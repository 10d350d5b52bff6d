import { DETAILS } from '../../domain/builds/failure.ts'
import * as z from 'zod'
import { isChannelId, type ChannelId } from '../../domain/ids.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'
import { SUBSCRIPTION_ACTION_IDS } from '../../slack/messages/ids.ts'
import { cut } from '../../slack/messages/limits.ts'
import { escapePlain, toLine } from '../../lib/escape.ts'
import { jsonOf } from '../kit/values.ts'
import { readReminderAlone, typedTime } from './remind.ts'
import type { SubscribeInput } from './subscribe-input.ts'
import type { UnknownBranch } from './subscribe.ts'

// If no known branch matches the typed one, the bot asks before it stores it. These are the buttons and their values.

/** The longest text of a branch on a button, in characters. */
const LABEL_CHARS_MAX = 40

/** A button for the nearest branch and one for the typed one; none if the wish does not fit into a value. */
export function branchButtons({ channel, wish, nearest }: UnknownBranch): ActionButton[] {
  const button = (id: 'useBranch' | 'keepBranch', verb: string, meant: SubscribeInput): ActionButton[] => {
    const value = valueOf(channel, meant)
    const label = escapePlain(cut(toLine(meant.branch ?? ''), LABEL_CHARS_MAX))
    if (readAskedBranch(value) === null) return []
    return [{ type: 'button', action_id: SUBSCRIPTION_ACTION_IDS[id], text: plain(`${verb} ${label}`), value }]
  }
  const keep = button('keepBranch', 'Keep', wish)
  if (nearest === null || keep.length === 0) return keep
  return [...button('useBranch', 'Use', { ...wish, branch: nearest, branchMatch: 'exact' }), ...keep]
}

/** The input as `WISH` reads it back. */
function valueOf(channel: ChannelId, wish: SubscribeInput): string {
  const { project, events, branch, branchMatch, quiet, mention, details, remind, instead } = wish
  const zone = remind?.zone ? ` ${remind.zone}` : ''
  const typed = remind && `${typedTime(remind.afterMs)} ${remind.fromHour}-${remind.toHour} ${remind.days}${zone}`
  const reminder = remind === undefined ? undefined : (typed ?? 'off')
  return JSON.stringify({
    channel,
    project,
    events,
    branch,
    branchMatch,
    quiet,
    mention,
    details,
    remind: reminder,
    instead,
  })
}

const WISH = z.strictObject({
  channel: z.string().refine(isChannelId),
  project: z.string().min(1),
  events: z.union([z.literal('every'), z.array(z.string())]).nullable(),
  branch: z.string().min(1),
  branchMatch: z.enum(['exact', 'wildcard', 'regex']).nullable(),
  quiet: z.boolean(),
  mention: z.enum(['committer', 'nobody']),
  details: z.enum(DETAILS).exactOptional(),
  remind: z.string().exactOptional(),
  instead: z.string().exactOptional(),
})

/** The channel and the wish of a button; null: not a value that Buildline writes. */
export function readAskedBranch(value: string): { channel: ChannelId; wish: SubscribeInput } | null {
  const { data } = WISH.safeParse(jsonOf(value))
  const reminder = data?.remind === undefined ? null : readReminderAlone(data.remind)
  if (!data || reminder?.kind === 'no-reminder') return null
  const { channel, remind, ...wish } = data
  return { channel, wish: { ...wish, ...(remind && reminder && { remind: reminder.remind }), isBranchMeant: true } }
}
