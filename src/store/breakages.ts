import type { Breakage, BreakageChange } from '../domain/breakage.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { CardKey } from './records.ts'

// Red streaks, who looks after them, and what people did about them.

export interface BreakageReads {
  /** The breakage that the branch is in. */
  openBreakage(branchKey: string): Promise<Breakage | null>
  breakage(id: string): Promise<Breakage | null>
  /** The newest one of the branch that began at this build or before it. */
  breakageAt(branchKey: string, buildOrder: string): Promise<Breakage | null>
  /** Those of these projects that have not ended, the newest first. */
  openBreakages(projectIds: readonly string[], limit: number): Promise<Breakage[]>
  /** Those that have not ended and that this person has promised to look after. */
  breakagesOf(user: string): Promise<Breakage[]>
  /** People whose promises hold at that time (ms). */
  breakageOwners(now: number, limit: number): Promise<string[]>
  /** What stands in the thread of a card, the oldest first. */
  breakageChangesOf(subject: string): Promise<BreakageChange[]>
  /** What was done about these breakages, the oldest first. */
  breakageChanges(ids: readonly string[]): Promise<BreakageChange[]>
  /** The cards that show failures of the breakage, of one channel or of all, the newest first. */
  breakageCards(breakage: Pick<Breakage, 'branchKey' | 'beganOrder'>, channel?: ChannelId): Promise<CardKey[]>
  /** What this interaction has changed. */
  breakageChangeBy(interactionKey: string): Promise<BreakageChange | null>
  /** The audit: what people did in the order in which they were made, after this place in it. */
  breakageChangesAfter(place: { at: number; id: string }, limit: number): Promise<AuditedChange[]>
}

export type AuditedChange = BreakageChange & Pick<Breakage, 'projectId' | 'branch'>

export interface BreakageWrites {
  /** Keeps a breakage as it is now. At most one of a branch has not ended: lock the branch first. */
  keepBreakage(breakage: Breakage): Promise<void>
  insertBreakageChange(change: BreakageChange): Promise<void>
  removeBreakageChange(id: string): Promise<void>
  /** The cards of a subject may say something else from now on (ms): they are planned anew. */
  touchCards(subject: string, at: number, priority: number): Promise<void>
}

/** The name under which all that changes a branch's breakage is locked: `tx.lockName`. */
export const breakageLock = (branchKey: string): string => `breakage of ${branchKey}`
