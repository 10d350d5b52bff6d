import type { Schedule } from '../domain/digest.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { DigestView } from '../domain/view.ts'

/** A channel's digest: when it comes, and the newest one, which says what it said when it was planned. */
export interface KeptDigest {
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
  digest(channel: ChannelId): Promise<KeptDigest | null>
  /** Those that are due by then (ms). */
  digestsDue(now: number): Promise<KeptDigest[]>
  /** Those that are due after then (ms). */
  digestsAfter(at: number): Promise<KeptDigest[]>
}

export interface DigestWrites {
  /** Takes the place of the channel's digest; what was planned stays. */
  keepDigest(digest: Omit<KeptDigest, 'last'>): Promise<void>
  /** Says whether there was one. */
  removeDigest(channel: ChannelId): Promise<boolean>
  /** Goes on to the next due time, from this one; `planned`: with this digest. False: somebody else has, or it was set anew. */
  advanceDigest(
    digest: Pick<KeptDigest, 'channel' | 'nextAt' | 'setAt'>,
    to: { nextAt: number; planned: PlannedDigest | null },
  ): Promise<boolean>
}
