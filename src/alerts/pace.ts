import type { ChannelId } from '../domain/ids.ts'
import type { Lane } from '../domain/plan.ts'
import type { Clock } from '../lib/clock.ts'

// Slack's limits, kept by us so that Slack never has to say 429. Source: Slack's rate limits, "special" and "tier 3".

/** `chat.postMessage`: one a second and channel. */
export const POST_GAP_MS = 1_000

/** `chat.update`, and `conversations.history` and `.replies`: so many a minute and workspace. */
export const CALLS_PER_WINDOW = 50
export const WINDOW_MS = 60_000

/**
 * Slack counts a call when it arrives, which is after we sent it and before it answered. The gap is counted from the
 * answer, or from this long after sending where the answer takes longer: slow answers must not slow the channel.
 */
const ARRIVAL_MAX_MS = 100
const ARRIVAL_LEARNT_MAX_MS = 2_000

/** A call of which only the claim is known was sent within this time after it. */
const CLAIM_TO_ARRIVAL_MS = 1_000

export interface Pace {
  /** When the next call in this lane may be made (ms); not after now: at once. Infinity while one is under way. */
  freeAt(lane: Lane, channel: ChannelId | null): number
  /** Takes the slot; call the result when it is over, and say when the call was sent (ms); null: none was. */
  take(lane: Lane, channel: ChannelId): (sentAt: number | null) => void
  /** Slack said 429 all the same: nothing in this lane (for posts: in this channel) for so long. */
  block(lane: Lane, channel: ChannelId, forMs: number): void
}

/** @param recent calls of the last minute, from before a restart */
export function createPace(clock: Clock, recent: readonly { lane: Lane; channel: ChannelId; at: number }[] = []): Pace {
  // Each 429 says that calls arrive later than we thought.
  let arrivalMaxMs = ARRIVAL_MAX_MS
  const arrivedBy = (sentAt: number) => Math.min(clock.now(), sentAt + arrivalMaxMs)
  const channels = new Map<ChannelId, Slot>()
  const windows = { edit: createWindow(clock, arrivedBy), look: createWindow(clock, arrivedBy) }
  for (const { lane, channel, at } of recent) {
    const arrivedAt = at + CLAIM_TO_ARRIVAL_MS
    if (lane === 'post') channels.set(channel, { freeAt: arrivedAt + POST_GAP_MS })
    else windows[lane].restore(arrivedAt)
  }

  function takePost(channel: ChannelId): (sentAt: number | null) => void {
    const before = channels.get(channel)?.freeAt ?? 0
    forgetIdle(channels, clock.now())
    const slot = { freeAt: Number.POSITIVE_INFINITY }
    channels.set(channel, slot)
    return (sentAt) => {
      slot.freeAt = sentAt === null ? before : arrivedBy(sentAt) + POST_GAP_MS
    }
  }

  return {
    freeAt: (lane, channel) =>
      lane === 'post' ? (channel && channels.get(channel)?.freeAt) || 0 : windows[lane].freeAt(),
    take: (lane, channel) => (lane === 'post' ? takePost(channel) : windows[lane].take()),
    block(lane, channel, forMs) {
      arrivalMaxMs = Math.min(ARRIVAL_LEARNT_MAX_MS, arrivalMaxMs * 2)
      const until = clock.now() + forMs
      if (lane === 'post') channels.set(channel, { freeAt: until })
      else windows[lane].block(until)
    },
  }
}

interface Slot {
  freeAt: number
}

/** Channels whose slot is long free need no memory. */
const CHANNELS_KEPT = 1_000

function forgetIdle(channels: Map<ChannelId, Slot>, now: number): void {
  if (channels.size < CHANNELS_KEPT) return
  for (const [channel, { freeAt }] of channels) if (freeAt <= now) channels.delete(channel)
}

function createWindow(clock: Clock, arrivedBy: (sentAt: number) => number) {
  const calls: { at: number }[] = []
  let blockedUntil = 0

  function forget(): void {
    while (calls.length > 0 && calls[0]!.at + WINDOW_MS <= clock.now()) calls.shift()
  }

  return {
    restore(at: number): void {
      calls.push({ at })
    },
    freeAt(): number {
      forget()
      const full = calls.length >= CALLS_PER_WINDOW
      return Math.max(blockedUntil, full ? calls[calls.length - CALLS_PER_WINDOW]!.at + WINDOW_MS : 0)
    },
    take(): (sentAt: number | null) => void {
      const call = { at: Number.POSITIVE_INFINITY }
      calls.push(call)
      return (sentAt) => {
        if (sentAt === null) calls.splice(calls.indexOf(call), 1)
        else call.at = arrivedBy(sentAt)
        calls.sort((a, b) => a.at - b.at)
      }
    },
    block(until: number): void {
      blockedUntil = Math.max(blockedUntil, until)
    },
  }
}
