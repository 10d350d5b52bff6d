import type { Breakage, BreakageChange } from '../domain/breakage.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { CardKey, Projects } from './records.ts'

// Red streaks, who is on them, and what was done about them.

export interface BreakageReads {
  /** The branch's open breakage: the one that has not ended. */
  openBreakage(branchKey: string): Promise<Breakage | null>
  breakage(id: string): Promise<Breakage | null>
  /** The branch's newest breakage that began at this build or before it. */
  breakageAt(branchKey: string, buildOrder: string): Promise<Breakage | null>
  /** The open breakages of these projects, newest first. */
  openBreakages(projects: Projects, limit: number): Promise<Breakage[]>
  /** Open breakages whose branches were not looked for since (ms), the longest ago first. */
  breakagesToCheck(checkedBefore: number, limit: number): Promise<Breakage[]>
  /** The open breakages that this person owns. */
  breakagesOf(user: string): Promise<Breakage[]>
  /** People who own a red branch at that time (ms). */
  breakageOwners(now: number, limit: number): Promise<string[]>
  /** The changes in the thread of a card, the oldest first. */
  breakageChangesOf(subject: string): Promise<BreakageChange[]>
  /** The changes of these breakages, the oldest first. */
  breakageChanges(ids: readonly string[]): Promise<BreakageChange[]>
  /** The cards that show failures of the breakage, of one channel or of all, the newest first. */
  breakageCards(
    breakage: Pick<Breakage, 'branchKey' | 'beganOrder' | 'newestOrder'>,
    channel?: ChannelId,
  ): Promise<CardKey[]>
  /** The change that this interaction made. */
  breakageChangeBy(interactionKey: string): Promise<BreakageChange | null>
  /** For the audit: changes that people made, oldest first, after this place. */
  breakageChangesAfter(place: { at: number; id: string }, limit: number): Promise<AuditedChange[]>
}

export type AuditedChange = BreakageChange & Pick<Breakage, 'projectId' | 'branch'>

export interface BreakageWrites {
  /** Inserts or updates a breakage. Lock the branch first: at most one of its breakages has not ended. */
  saveBreakage(breakage: Breakage): Promise<void>
  /** When the source was last asked whether the branch is still there (ms). */
  setBranchCheckedAt(id: string, at: number): Promise<void>
  /** From now on a branch has no outcomes: it is neither red nor green, and its next failure begins a streak. */
  forgetOutcomes(branchKey: string): Promise<void>
  insertBreakageChange(change: BreakageChange): Promise<void>
  removeBreakageChange(id: string): Promise<void>
  /** Schedules the cards of a subject to be replanned at that time (ms), unless they are due earlier. */
  touchCards(subject: string, at: number, priority: number): Promise<void>
}

/** The name to lock before changing a branch's breakage: `tx.lockName`. */
export const breakageLock = (branchKey: string): string => `breakage of ${branchKey}`
