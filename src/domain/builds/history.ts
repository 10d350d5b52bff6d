import { foldAttempts, type Attempt } from './attempt.ts'
import type { BuildEvent } from './build-event.ts'
import { branchKey } from './revision.ts'
import { isVerdict } from './status.ts'
import {
  breaks,
  endOf,
  endedLater,
  extentOf,
  recoveryOf,
  extentTo,
  type Judgement,
  type Streak,
  type StreakExtent,
} from './streak.ts'
import { hasStreak } from './stream.ts'

// Judges an attempt by the outcomes of its stream, of which it reads as few as possible.

export interface OutcomeReads {
  /** Build events that finish a build of the branch at or before this build, newest build first. */
  verdictsBefore(branchKey: string, buildOrder: string, limit: number): Promise<BuildEvent[]>
  /** Whether a newer build of the branch, one of the next hundred, finished before this build event was received. */
  isOvertaken(branchKey: string, buildOrder: string, seq: number): Promise<boolean>
  /** The stored judgements of a card's outcomes, by build event. A late outcome removes those that it may change. */
  judgements(revisionKey: string, cardNumber: number): Promise<ReadonlyMap<number, Judgement>>
  /** The branch's open streak: the one that has not ended. */
  openStreak(branchKey: string): Promise<Streak | null>
}

/** A red streak is counted up to OUTCOMES_FAR, then it is "at least". */
export const OUTCOMES_FAR = 500

/** Outcomes of a branch that are read first. More are rarely needed, since most branches passed recently. */
export const OUTCOMES_NEAR = 8

/**
 * What each outcome of a card did to its stream, by the build event: as stored, or judged now if it is not stored.
 * @param keep stores a new judgement
 */
export async function judgementsOf(
  reads: OutcomeReads,
  attempts: readonly Attempt[],
  keep?: (eventSeq: number, judgement: Judgement) => Promise<void>,
): Promise<ReadonlyMap<number, Judgement>> {
  const ended = attempts.filter(({ status }) => isVerdict(status))
  if (ended.length === 0) return new Map()
  const { revisionKey, cardNumber } = ended[0]!.buildEvents[0]!
  const judgements = new Map(await reads.judgements(revisionKey, cardNumber ?? 0))
  for (const attempt of ended.filter(({ finalSeq }) => !judgements.has(finalSeq!))) {
    const judgement = await judge(reads, attempt, attempts)
    judgements.set(attempt.finalSeq!, judgement)
    // The end of an attempt that was over already is no outcome of the branch.
    if (endOf(attempt)?.isOutcome) await keep?.(attempt.finalSeq!, judgement)
  }
  return judgements
}

/** Starts the reads that judging an outcome begins with. */
export function prefetchHistory(reads: OutcomeReads, { projectId, branch, buildOrder, seq }: BuildEvent) {
  if (branch === null || !hasStreak(branch)) return []
  const key = branchKey(projectId, branch)
  return [reads.isOvertaken(key, buildOrder, seq), reads.verdictsBefore(key, buildOrder, OUTCOMES_NEAR)]
}

async function judge(reads: OutcomeReads, attempt: Attempt, own: readonly Attempt[]): Promise<Judgement> {
  const { status, buildId, buildOrder } = attempt
  const finalSeq = attempt.finalSeq!
  const branch = branchKeyOf(attempt)
  const isOvertaken = branch !== null && (await reads.isOvertaken(branch, buildOrder, finalSeq))
  if (status === 'success') {
    // A success ends the streak, or shows that there is none, so outcomes before it do not matter.
    const endsStreak = (one: BuildEvent) => one.status === 'success' && one.buildId !== buildId && one.seq < finalSeq
    const recovery = (history: readonly Attempt[], isCut: boolean) => recoveryOf(attempt, history, isCut)
    const streak = isOvertaken ? null : await lookBack(reads, attempt, own, endsStreak, recovery)
    return { change: streak && 'recovered', streak }
  }
  const counts = (one: BuildEvent) =>
    one.buildId !== buildId &&
    (one.seq < finalSeq ||
      (one.status === 'success' && one.origin !== 'history' && !endedLater(one.details, attempt.details)))
  const isBreak = !isOvertaken && (await lookBack(reads, attempt, own, counts, (history) => breaks(attempt, history)))
  return { change: isBreak ? 'broken' : null, streak: await extentAt(reads, attempt) }
}

/**
 * How long the branch has been red as of this attempt; null if it is not red. An attempt without an outcome (running,
 * waiting or stopped) leaves the branch as it was.
 */
export async function extentAt(reads: OutcomeReads, attempt: Attempt): Promise<StreakExtent | null> {
  if (attempt.status === 'success') return null
  const open = await openStreakTo(reads, attempt)
  if (open) return extentOf(open)
  const endsStreak = ({ status, seq, buildId }: BuildEvent) =>
    status === 'success' && (buildId !== attempt.buildId || seq < (attempt.finalSeq ?? Number.POSITIVE_INFINITY))
  return lookBack(reads, attempt, [attempt], endsStreak, (history, isCut) => extentTo(attempt, history, isCut))
}

/**
 * Judges an attempt by its branch's outcomes up to its build: by the newest ones, and by more if those may not suffice.
 * @param own the attempts on its card
 * @param isEnough whether outcomes before this one cannot change the result
 */
async function lookBack<T>(
  reads: OutcomeReads,
  attempt: Attempt,
  own: readonly Attempt[],
  isEnough: (outcome: BuildEvent) => boolean,
  result: (history: readonly Attempt[], isCut: boolean) => T,
): Promise<T> {
  const branch = branchKeyOf(attempt)
  if (branch === null) return result(own, false)
  const read = (limit: number) => reads.verdictsBefore(branch, attempt.buildOrder, limit)
  const near = await read(OUTCOMES_NEAR)
  if (near.length < OUTCOMES_NEAR || near.some(isEnough)) return result(foldHistory(near, own), false)
  const far = await read(OUTCOMES_FAR)
  return result(foldHistory(far, own), far.length === OUTCOMES_FAR)
}

/** The branch's open streak, if this attempt is of its newest failure or of a later build. */
export async function openStreakTo(reads: OutcomeReads, attempt: Attempt): Promise<Streak | null> {
  const branch = branchKeyOf(attempt)
  const open = branch === null ? null : await reads.openStreak(branch)
  return open && attempt.buildOrder >= open.newestOrder ? open : null
}

/** The stream whose results the attempt belongs to. Null: its branch is not known, or its results do not follow others. */
export function branchKeyOf(attempt: Attempt): string | null {
  const branch = attempt.buildEvents.findLast((buildEvent) => buildEvent.branch !== null)?.branch ?? null
  return branch === null || !hasStreak(branch) ? null : branchKey(attempt.buildEvents[0]!.projectId, branch)
}

// A build of this card may have attempts on an earlier card, from before a long pause.
function foldHistory(buildEvents: readonly BuildEvent[], own: readonly Attempt[]): Attempt[] {
  const bySeq = new Map(
    [...buildEvents, ...own.flatMap((attempt) => attempt.buildEvents)].map((buildEvent) => [
      buildEvent.seq,
      buildEvent,
    ]),
  )
  return foldAttempts([...bySeq.values()].toSorted((a, b) => a.seq - b.seq))
}
