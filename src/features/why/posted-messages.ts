import type { ChannelId } from '../../domain/ids.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import { addressOf } from '../../alerts/messages/card.ts'
import { INLINE_URL_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { Explained, Posted } from '../../catalog/outcomes.ts'

/** What stands in the channel about a fact, as it is recorded, with its times. Markup. */
export function postedWords({ channel, posted, verdict }: Pick<Explained, 'channel' | 'posted' | 'verdict'>): string {
  if (posted.length > 0) return `there now: ${posted.map((one) => oneWords(one, channel)).join(' · ')}`
  return verdict === 'tell' ? 'nothing stands there yet' : 'nothing was posted'
}

function oneWords(posted: Posted, channel: ChannelId): string {
  const what = NAMES[posted.slot] ?? 'reply in the thread'
  switch (posted.state) {
    case 'waiting':
      return `${what}, waiting to be posted`
    case 'gone':
      return `${what}, gone: deleted, or closed for changes`
    case 'posted':
      return `${linked(what, posted, channel)}${timesOf(posted)}${posted.broadcast ? ', also sent to the channel' : ''}`
  }
}

const NAMES: Readonly<Record<string, string>> = { card: 'card', notice: "the day's notice of the account" }

const linked = (what: string, { ts }: Posted, channel: ChannelId): string =>
  ts === null ? what : mrkdwnLink(addressOf(channel, ts), what, INLINE_URL_CHARS_MAX)

/** A message is written twice where it is posted and its post recorded: only a later change is an edit. */
const EDITED_AFTER_MS = 2_000

function timesOf({ ts, at }: Posted): string {
  const postedAt = ts === null ? null : Number(ts) * 1_000
  const posted = postedAt === null ? null : dayTime(postedAt)
  const edited = postedAt !== null && at !== null && at - postedAt >= EDITED_AFTER_MS ? dayTime(at) : null
  return [posted && ` of ${posted}`, edited && `, last edited ${edited}`].filter(Boolean).join('')
}
