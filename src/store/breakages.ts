import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Breakage, BreakageChange } from '../domain/builds/breakage.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { CardKey, Projects, KnownBuild } from './records.ts'
import { branchKey } from '../domain/builds/revision.ts'

// Red streaks, their owners, and the changes that people made.

export interface BreakageReads {
  /** The branch's open breakage: the one that has not ended. */
  openBreakage(branchKey: string): Promise<Breakage | null>
  breakage(id: string): Promise<Breakage | null>
  /** The branch's newest breakage that began at this build or before it. */
  breakageAt(branchKey: string, buildOrder: string): Promise<Breakage | null>
  /** The open breakages of these projects, newest first. */
  openBreakages(projects: Projects, limit: number): Promise<Breakage[]>
  /** Open breakages that began, and whose branches were last checked, before then (ms), the longest ago first. */
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
  /** Forgets a branch's outcomes: it is neither red nor green, and its next failure begins a streak. */
  forgetOutcomes(branchKey: string): Promise<void>
  insertBreakageChange(change: BreakageChange): Promise<void>
  removeBreakageChange(id: string): Promise<void>
  /** Schedules the cards of a subject to be replanned at that time (ms), unless they are due earlier. */
  touchCards(subject: string, at: number, priority: number): Promise<void>
}

/** The name to lock before changing the breakage of the branch with this key: `tx.lockName`. */
export const breakageLock = (key: string): string => `breakage of ${key}`

/** The reads that find red branches. */
export interface RedReads extends Pick<BreakageReads, 'openBreakages'> {
  redBuilds(projects: Projects | null, limit: number): Promise<KnownBuild[]>
  newestBuild(projectId: string, branch: string): Promise<KnownBuild | null>
}

/** The red branches of these projects: each by its last red build, or by its newest build if that one is run again. */
export async function redBranches(reads: RedReads, projects: Projects, limit: number): Promise<KnownBuild[]> {
  const red = await reads.redBuilds(projects, limit)
  // SQLite's reads do not yield to the event loop, and each of these can give a thousand rows.
  await nextTurn()
  const open = await reads.openBreakages(projects, limit)
  const named = new Set(red.map(({ projectId, branch }) => branchKey(projectId, branch)))
  const again = open.filter((breakage) => !named.has(breakage.branchKey)).slice(0, limit - red.length)
  const newest = await Promise.all(again.map(({ projectId, branch }) => reads.newestBuild(projectId, branch)))
  return [...red, ...newest.filter((build) => build !== null)]
}
