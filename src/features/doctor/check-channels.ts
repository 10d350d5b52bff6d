import type { ChannelId } from '../../domain/ids.ts'
import type { Found } from './asked.ts'
import type { Examination } from './readings.ts'

/** Slack answers some fifty such questions in a minute; further channels are not looked at. */
export const CHANNELS_MAX = 40
const AT_ONCE = 4

/** Is there a channel that follows anything, and can each of them be told? */
export async function checkChannels(examination: Examination): Promise<Found[]> {
  const subscriptions = await examination.subscriptions().catch(() => null)
  if (subscriptions === null) return [{ kind: 'not-checked', why: 'store-fails' }]
  const channels = [...new Set(subscriptions.map(({ channel }) => channel))]
  if (channels.length === 0) return [{ kind: 'nobody-follows' }]
  const looked = await lookAtAll(examination, channels.slice(0, CHANNELS_MAX))
  const found = looked.filter((one) => one !== null)
  const rest: Found[] = channels.length > CHANNELS_MAX ? [{ kind: 'not-checked', why: 'too-many' }] : []
  return found.length > 0 ? [...found, ...rest] : [{ kind: 'fine', count: looked.length }, ...rest]
}

async function lookAtAll(examination: Examination, channels: readonly ChannelId[]): Promise<(Found | null)[]> {
  const found: (Found | null)[] = []
  for (let at = 0; at < channels.length; at += AT_ONCE) {
    const some = await Promise.all(channels.slice(at, at + AT_ONCE).map((channel) => lookAt(examination, channel)))
    found.push(...some)
    // Whatever Slack said to one, it says to all: the token, a scope, its own trouble.
    const general = some.find((one) => one !== null && one.kind !== 'channel-closed')
    if (general) return [general]
  }
  return found
}

/** Null where nothing is wrong with it. */
async function lookAt({ slack, signal }: Examination, channel: ChannelId): Promise<Found | null> {
  const look = await slack.channel(channel, signal)
  switch (look.kind) {
    case 'open':
      return null
    case 'closed':
      return { kind: 'channel-closed', channel, code: look.code }
    case 'refuses':
      return { kind: 'slack-refuses', code: look.code }
    case 'away':
      return { kind: 'not-checked', why: 'slack-away' }
  }
}
