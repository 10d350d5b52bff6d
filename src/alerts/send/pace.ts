import type { ChannelId } from '../../domain/ids.ts'
import type { Queue } from '../../domain/cards/plan.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Failure } from '../../slack/notifier.ts'

// Keeps Slack's rate limits, to avoid 429s. Source: Slack's rate limits, "special" and "tier 3".

/** `chat.postMessage`: one per second and channel; after a quiet time a channel accepts a burst of this many. */
export const POST_GAP_MS = 1_000
export const POST_BURST = 3

/** `chat.update`; and `conversations.history` and `.replies` together: this many per minute and workspace. */
export const CALLS_PER_WINDOW = 50
export const WINDOW_MS = 60_000

/**
 * Slack counts a call when it arrives: after we sent it, before it answered. Here it counts from the answer, or from
 * this long after sending if the answer takes longer: slow answers must not slow the channel.
 */
const ARRIVAL_MAX_MS = 100
const ARRIVAL_LEARNT_MAX_MS = 2_000

/** After a restart only the claim of a call is known. The call arrived within this time after it. */
const CLAIM_TO_ARRIVAL_MS = 1_000

export interface Pace {
  /** When the next call in this queue may be made (ms); past: now. Infinity: a post to the channel is in flight. */
  freeAt(queue: Queue, channel: ChannelId | null): number
  /** Reserves a call. When it has ended, call the result with the time it was sent (ms), or null if it was not sent. */
  take(queue: Queue, channel: ChannelId): (sentAt: number | null) => void
  /** After a 429: nothing in this queue (posts: this channel) for `forMs`, and no bursts in the channel from now on. */
  block(queue: Queue, channel: ChannelId, forMs: number): void
}

/** @param recent calls of the last minute, from before a restart */
export function createPace(
  clock: Clock,
  recent: readonly { queue: Queue; channel: ChannelId; at: number }[] = [],
): Pace {
  let arrivalMaxMs = ARRIVAL_MAX_MS
  const arrivedBy = (sentAt: number) => Math.min(clock.now(), sentAt + arrivalMaxMs)
  const buckets = new Map<ChannelId, Bucket>()
  const windows = { edit: createWindow(clock, arrivedBy), look: createWindow(clock, arrivedBy) }
  // Earlier posts are unknown: they may have emptied the bucket.
  const emptyBefore = { fullAt: clock.now() - WINDOW_MS + POST_BURST * POST_GAP_MS, size: POST_BURST }
  for (const { queue, channel, at } of recent) {
    const arrivedAt = at + CLAIM_TO_ARRIVAL_MS
    if (queue === 'post') buckets.set(channel, without(buckets.get(channel) ?? emptyBefore, arrivedAt))
    else windows[queue].restore(arrivedAt)
  }

  function takePost(channel: ChannelId): (sentAt: number | null) => void {
    const before = buckets.get(channel) ?? FULL
    forgetFull(buckets, clock.now())
    const taken = { ...before, fullAt: Number.POSITIVE_INFINITY }
    buckets.set(channel, taken)
    return (sentAt) => Object.assign(taken, sentAt === null ? before : without(before, arrivedBy(sentAt)))
  }

  function blockPost(channel: ChannelId, until: number): void {
    if (buckets.get(channel)?.size === 1) learnArrival()
    buckets.set(channel, { fullAt: until, size: 1 })
  }

  /** Slack refused a call that kept the limit, so calls arrive later than assumed. */
  function learnArrival(): void {
    arrivalMaxMs = Math.min(ARRIVAL_LEARNT_MAX_MS, arrivalMaxMs * 2)
  }

  return {
    freeAt: (queue, channel) =>
      queue === 'post' ? freeAt((channel && buckets.get(channel)) || FULL) : windows[queue].freeAt(),
    take: (queue, channel) => (queue === 'post' ? takePost(channel) : windows[queue].take()),
    block(queue, channel, forMs) {
      const until = clock.now() + forMs
      if (queue === 'post') return blockPost(channel, until)
      learnArrival()
      windows[queue].block(until)
    },
  }
}

/** Holds `size` posts when it is full, and gets one back each `POST_GAP_MS`. */
interface Bucket {
  /** Infinity while a post is in flight: posts go one by one, so that each shows the newest state. */
  fullAt: number
  /** 1 once Slack has refused a burst in the channel */
  size: number
}

const FULL: Bucket = { fullAt: 0, size: POST_BURST }

const freeAt = ({ fullAt, size }: Bucket): number => fullAt - (size - 1) * POST_GAP_MS

const without = ({ fullAt, size }: Bucket, arrivedAt: number): Bucket => ({
  fullAt: Math.max(fullAt, arrivedAt) + POST_GAP_MS,
  size,
})

/** From this many channels on, full buckets are dropped, but not those of channels where Slack takes no burst. */
const CHANNELS_KEPT = 1_000

function forgetFull(buckets: Map<ChannelId, Bucket>, now: number): void {
  if (buckets.size < CHANNELS_KEPT) return
  for (const [channel, { fullAt, size }] of buckets) if (fullAt <= now && size === POST_BURST) buckets.delete(channel)
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

/** After this many calls in a row that did not reach Slack, it is taken to be down. */
const FAILURES_MAX = 3

/** While Slack is down, only a ping is sent, this often. */
const PING_DOWN_MS = 1_000

/** The interval of pings while Slack refuses the token, which only a person can fix. */
const PING_CLOSED_MS = 30_000

type Outcome = { kind: 'sent' | 'found' } | Failure

const codeOf = (outcome: Outcome): string => ('code' in outcome ? outcome.code : outcome.kind)

/** While Slack is down, prevents trying every waiting card in turn. */
export function createOutage(clock: Clock) {
  let failures = 0
  let reason: string | null = null
  let pingAt = 0

  return {
    /** Why nothing is sent now; null: Slack seems reachable. */
    reason: () => reason,
    /** When to send the next ping (ms). */
    nextPingAt: () => pingAt,
    /** Call it when a ping was sent. The next one does not wait for its answer, which may never come. */
    pingSent(): void {
      pingAt = clock.now() + PING_DOWN_MS
    },
    recordOutcome(outcome: Outcome): void {
      const { kind } = outcome
      const unreached = kind === 'unclear' || kind === 'unsent'
      failures = unreached ? failures + 1 : 0
      const closed = kind === 'workspace-closed'
      reason = closed || failures >= FAILURES_MAX || (unreached && reason !== null) ? codeOf(outcome) : null
      if (reason !== null) pingAt = clock.now() + (closed ? PING_CLOSED_MS : PING_DOWN_MS)
    },
  }
}
