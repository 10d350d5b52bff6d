import type { ChannelId } from '../domain/ids.ts'
import type { Queue } from '../domain/plan.ts'
import type { Clock } from '../lib/clock.ts'
import type { Failure } from '../slack/notifier.ts'

// Slack's limits, kept by us so that Slack never has to say 429. Source: Slack's rate limits, "special" and "tier 3".

/** `chat.postMessage`: one a second and channel; a channel that was left alone for a while takes this many at once. */
export const POST_GAP_MS = 1_000
export const POST_BURST = 3

/** `chat.update`, and `conversations.history` and `.replies`: this many a minute and workspace. */
export const CALLS_PER_WINDOW = 50
export const WINDOW_MS = 60_000

/**
 * Slack counts a call when it arrives, which is after we sent it and before it answered. It is counted here at the answer, or
 * this long after sending where the answer takes longer: slow answers must not slow the channel.
 */
const ARRIVAL_MAX_MS = 100
const ARRIVAL_LEARNT_MAX_MS = 2_000

/** A call of which only the claim is known was sent within this time after it. */
const CLAIM_TO_ARRIVAL_MS = 1_000

export interface Pace {
  /** When the next call in this queue may be made (ms); not after now: at once. Infinity while one is under way. */
  freeAt(queue: Queue, channel: ChannelId | null): number
  /** Takes the slot; call the result when it is over, and say when the call was sent (ms); null: none was. */
  take(queue: Queue, channel: ChannelId): (sentAt: number | null) => void
  /** Slack said 429 all the same: nothing in this queue (posts: this channel) for `forMs`, and no burst there again. */
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
  // Older posts are not known: they may have left the bucket empty.
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

  /** Calls arrive later than we thought. */
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
  /** Infinity while a post is under way: there is one at a time, so that the next is chosen fresh. */
  fullAt: number
  /** one as soon as Slack has refused a burst in the channel */
  size: number
}

const FULL: Bucket = { fullAt: 0, size: POST_BURST }

const freeAt = ({ fullAt, size }: Bucket): number => fullAt - (size - 1) * POST_GAP_MS

const without = ({ fullAt, size }: Bucket, arrivedAt: number): Bucket => ({
  fullAt: Math.max(fullAt, arrivedAt) + POST_GAP_MS,
  size,
})

/** Beyond this many, full buckets are forgotten, but not those of channels where Slack takes no burst. */
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

/** So many calls in a row that reached nobody, and Slack is taken to be down. */
const FAILURES_MAX = 3

/** While it is down, one cheap call asks this often whether it is back; nothing else is sent. */
const ASK_DOWN_MS = 1_000

/** A revoked token comes back only when somebody changes it. */
const ASK_CLOSED_MS = 30_000

/** How a call ended. */
type Outcome = { kind: 'sent' | 'found' } | Failure

const codeOf = (outcome: Outcome): string => ('code' in outcome ? outcome.code : outcome.kind)

interface Outage {
  /** Why nothing is sent now; null: Slack is reachable as far as we know. */
  reason(): string | null
  /** The time of the next question (ms). */
  askAt(): number
  /** A question is on its way. The next one does not wait for its answer: where nothing answers, that takes long. */
  asked(): void
  heard(outcome: Outcome): void
}

/** Keeps a whole backlog from knocking at a closed door, one card after the other. */
export function createOutage(clock: Clock): Outage {
  let failures = 0
  let reason: string | null = null
  let askAt = 0

  return {
    reason: () => reason,
    askAt: () => askAt,
    asked() {
      askAt = clock.now() + ASK_DOWN_MS
    },
    heard(outcome) {
      const { kind } = outcome
      const unreached = kind === 'unclear' || kind === 'unsent'
      failures = unreached ? failures + 1 : 0
      const closed = kind === 'workspace-closed'
      reason = closed || failures >= FAILURES_MAX || (unreached && reason !== null) ? codeOf(outcome) : null
      if (reason !== null) askAt = clock.now() + (closed ? ASK_CLOSED_MS : ASK_DOWN_MS)
    },
  }
}
