import type { Schedule } from '../domain/rules/digest.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { DigestView } from '../domain/cards/view.ts'

/** A channel's digest: its schedule, and the newest one with its content. */
export interface StoredDigest {
  channel: ChannelId
  schedule: Schedule
  /** a Slack user, and when (ms) */
  setBy: string
  setAt: number
  /** when the next one is due (ms) */
  nextAt: number
  last: PlannedDigest | null
}

export interface PlannedDigest {
  /** the name of its period */
  period: string
  dueAt: number
  plannedAt: number
  view: DigestView
}

export interface DigestReads {
  digest(channel: ChannelId): Promise<StoredDigest | null>
  /** Those that are due by then (ms). */
  digestsDue(now: number): Promise<StoredDigest[]>
  /** Those that are due after then (ms). */
  digestsAfter(at: number): Promise<StoredDigest[]>
}

export interface DigestWrites {
  /** Replaces the channel's schedule; the planned digest stays. */
  saveDigest(digest: Omit<StoredDigest, 'last'>): Promise<void>
  /** @returns whether there was one */
  removeDigest(channel: ChannelId): Promise<boolean>
  /** Moves on to the next due time and stores `planned`. False: another process did so, or the digest was set again. */
  advanceDigest(
    digest: Pick<StoredDigest, 'channel' | 'nextAt' | 'setAt'>,
    to: { nextAt: number; planned: PlannedDigest | null },
  ): Promise<boolean>
}
