import type { Breakage, BreakageChange } from '../domain/breakage.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { CardKey } from './records.ts'

// Red streaks, who is on them, and what was done about them.

export interface BreakageReads {
  /** The branch's breakage that has not ended. */
  openBreakage(branchKey: string): Promise<Breakage | null>
  breakage(id: string): Promise<Breakage | null>
  /** The newest one of the branch that began at this build or before it. */
  breakageAt(branchKey: string, buildOrder: string): Promise<Breakage | null>
  /** Those of these projects that have not ended, the newest first. */
  openBreakages(projectIds: readonly string[], limit: number): Promise<Breakage[]>
  /** Those that have not ended and whose owner is this person. */
  breakagesOf(user: string): Promise<Breakage[]>
  /** People who are on a red branch at that time (ms). */
  breakageOwners(now: number, limit: number): Promise<string[]>
  /** The changes in the thread of a card, the oldest first. */
  breakageChangesOf(subject: string): Promise<BreakageChange[]>
  /** The changes of these breakages, the oldest first. */
  breakageChanges(ids: readonly string[]): Promise<BreakageChange[]>
  /** The cards that show failures of the breakage, of one channel or of all, the newest first. */
  breakageCards(breakage: Pick<Breakage, 'branchKey' | 'beganOrder'>, channel?: ChannelId): Promise<CardKey[]>
  /** What this interaction has changed. */
  breakageChangeBy(interactionKey: string): Promise<BreakageChange | null>
  /** For the audit: changes that people made, the oldest first, after this place. */
  breakageChangesAfter(place: { at: number; id: string }, limit: number): Promise<AuditedChange[]>
}

export type AuditedChange = BreakageChange & Pick<Breakage, 'projectId' | 'branch'>

export interface BreakageWrites {
  /** Inserts or updates a breakage. Lock the branch first: at most one of its breakages has not ended. */
  keepBreakage(breakage: Breakage): Promise<void>
  insertBreakageChange(change: BreakageChange): Promise<void>
  removeBreakageChange(id: string): Promise<void>
  /** Replans the cards of a subject, which may change from that time on (ms). */
  touchCards(subject: string, at: number, priority: number): Promise<void>
}

/** The name to lock before changing a branch's breakage: `tx.lockName`. */
export const breakageLock = (branchKey: string): string => `breakage of ${branchKey}`
