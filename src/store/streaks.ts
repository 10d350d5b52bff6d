import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OutcomeReads } from '../domain/builds/history.ts'
import type { Streak, StreakChange } from '../domain/builds/streak.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { CardKey, Projects, KnownBuild } from './records.ts'
import { branchKey } from '../domain/builds/revision.ts'

// Red streaks, their owners, and the changes that people made.

export interface StreakReads extends Pick<OutcomeReads, 'openStreak'> {
  streak(id: string): Promise<Streak | null>
  /** The branch's newest streak that began at this build or before it. */
  streakAt(branchKey: string, buildOrder: string): Promise<Streak | null>
  /** The open streaks of these projects, newest first. */
  openStreaks(projects: Projects, limit: number): Promise<Streak[]>
  /** Open streaks that began, and whose branches were last checked, before then (ms), the longest ago first. */
  streaksToCheck(checkedBefore: number, limit: number): Promise<Streak[]>
  /** The open streaks that this person owns. */
  streaksOf(user: string): Promise<Streak[]>
  /** People who own a red branch at that time (ms). */
  streakOwners(now: number, limit: number): Promise<string[]>
  /** The changes in the thread of a card, the oldest first. */
  streakChangesOf(subject: string): Promise<StreakChange[]>
  /** The changes of these streaks, the oldest first. */
  streakChanges(ids: readonly string[]): Promise<StreakChange[]>
  /** The cards that show failures of the streak, of one channel or of all, the newest first. */
  streakCards(streak: Pick<Streak, 'branchKey' | 'beganOrder' | 'newestOrder'>, channel?: ChannelId): Promise<CardKey[]>
  /** The change that this interaction made. */
  streakChangeBy(interactionKey: string): Promise<StreakChange | null>
  /** For the audit: changes that people made, oldest first, after this place. */
  streakChangesAfter(place: { at: number; id: string }, limit: number): Promise<AuditedChange[]>
}

export type AuditedChange = StreakChange & Pick<Streak, 'projectId' | 'branch'>

export interface StreakWrites {
  /** Inserts or updates a streak. Lock the branch first: at most one of its streaks has not ended. */
  saveStreak(streak: Streak): Promise<void>
  /** When the source was last asked whether the branch is still there (ms). */
  setBranchCheckedAt(id: string, at: number): Promise<void>
  /** Forgets a branch's outcomes: it is neither red nor green, and its next failure begins a streak. */
  forgetOutcomes(branchKey: string): Promise<void>
  insertStreakChange(change: StreakChange): Promise<void>
  removeStreakChange(id: string): Promise<void>
  /** Schedules the cards of a subject to be replanned at that time (ms), unless they are due earlier. */
  touchCards(subject: string, at: number, priority: number): Promise<void>
}

/** The name to lock before changing the streak of the branch with this key: `tx.lockName`. */
export const streakLock = (key: string): string => `breakage of ${key}`

export interface RedReads extends Pick<StreakReads, 'openStreaks'> {
  redBuilds(projects: Projects | null, limit: number): Promise<KnownBuild[]>
  newestBuild(projectId: string, branch: string): Promise<KnownBuild | null>
}

/** The red branches of these projects: each by its last red build, or by its newest build if that one is run again. */
export async function redBranches(reads: RedReads, projects: Projects, limit: number): Promise<KnownBuild[]> {
  const red = await reads.redBuilds(projects, limit)
  // SQLite's reads do not yield to the event loop, and each of these can give a thousand rows.
  await nextTurn()
  const open = await reads.openStreaks(projects, limit)
  const named = new Set(red.map(({ projectId, branch }) => branchKey(projectId, branch)))
  const again = open.filter((streak) => !named.has(streak.branchKey)).slice(0, limit - red.length)
  const newest = await Promise.all(again.map(({ projectId, branch }) => reads.newestBuild(projectId, branch)))
  return [...red, ...newest.filter((build) => build !== null)]
}
