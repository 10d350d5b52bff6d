import type { ChannelId } from '../domain/ids.ts'
import type { Queue } from '../domain/plan.ts'
import type { Clock } from '../lib/clock.ts'
import type { Failure } from '../slack/notifier.ts'

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
  /** When the next call in this queue may be made (ms); not after now: at once. Infinity while one is under way. */
  freeAt(queue: Queue, channel: ChannelId | null): number
  /** Takes the slot; call the result when it is over, and say when the call was sent (ms); null: none was. */
  take(queue: Queue, channel: ChannelId): (sentAt: number | null) => void
  /** Slack said 429 all the same: nothing in this queue (for posts: in this channel) for so long. */
  block(queue: Queue, channel: ChannelId, forMs: number): void
}

/** @param recent calls of the last minute, from before a restart */
export function createPace(
  clock: Clock,
  recent: readonly { queue: Queue; channel: ChannelId; at: number }[] = [],
): Pace {
  // Each 429 says that calls arrive later than we thought.
  let arrivalMaxMs = ARRIVAL_MAX_MS
  const arrivedBy = (sentAt: number) => Math.min(clock.now(), sentAt + arrivalMaxMs)
  const channels = new Map<ChannelId, Slot>()
  const windows = { edit: createWindow(clock, arrivedBy), look: createWindow(clock, arrivedBy) }
  for (const { queue, channel, at } of recent) {
    const arrivedAt = at + CLAIM_TO_ARRIVAL_MS
    if (queue === 'post') channels.set(channel, { freeAt: arrivedAt + POST_GAP_MS })
    else windows[queue].restore(arrivedAt)
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
    freeAt: (queue, channel) =>
      queue === 'post' ? (channel && channels.get(channel)?.freeAt) || 0 : windows[queue].freeAt(),
    take: (queue, channel) => (queue === 'post' ? takePost(channel) : windows[queue].take()),
    block(queue, channel, forMs) {
      arrivalMaxMs = Math.min(ARRIVAL_LEARNT_MAX_MS, arrivalMaxMs * 2)
      const until = clock.now() + forMs
      if (queue === 'post') channels.set(channel, { freeAt: until })
      else windows[queue].block(until)
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

/** So many calls in a row that reached nobody, and Slack is taken to be down. */
const FAILURES_MAX = 3

/** While it is down, one cheap call asks so often whether it is back; nothing else is sent. */
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
