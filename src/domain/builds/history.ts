import { together } from '../../lib/async.ts'
import { foldAttempts, type Attempt } from './attempt.ts'
import type { BuildEvent } from './build-event.ts'
import { branchKey } from './revision.ts'
import { isRed, isVerdict } from './status.ts'
import {
  breaks,
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

/** The reads that judging needs. */
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

/** A red streak is counted up to OUTCOMES_FAR, then it is "at least". Most are short: few outcomes are read first. */
const HISTORY_NEAR = 4
export const OUTCOMES_FAR = 500

/**
 * Outcomes of a branch that are read first where all count. More are rarely needed, since most branches passed
 * recently.
 */
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
  const open = ended.filter(({ finalSeq }) => !judgements.has(finalSeq!))
  if (open.length === 0) return judgements
  const around = await readAround(reads, attempts)
  for (const attempt of open) {
    const judgement = await judge(reads, attempt, around)
    judgements.set(attempt.finalSeq!, judgement)
    await keep?.(attempt.finalSeq!, judgement)
  }
  return judgements
}

async function judge(reads: OutcomeReads, attempt: Attempt, around: Around): Promise<Judgement> {
  if (attempt.status === 'success') {
    const streak = await recoveryIn(reads, attempt, around)
    return { change: streak && 'recovered', streak }
  }
  const isBreak = await breaksBranch(reads, attempt, around)
  return { change: isBreak ? 'broken' : null, streak: await extentAt(reads, attempt) }
}

async function recoveryIn(reads: OutcomeReads, attempt: Attempt, around: Around): Promise<StreakExtent | null> {
  if (attempt.status !== 'success' || (await isOvertaken(reads, attempt, around))) return null
  // A success ends the streak, or shows that there is none, so outcomes before it do not matter.
  const endsStreak = ({ status, seq, buildId }: BuildEvent) =>
    status === 'success' && buildId !== attempt.buildId && seq < attempt.finalSeq!
  return lookBack(reads, attempt, around, endsStreak, (history, isCut) => recoveryOf(attempt, history, isCut))
}

async function breaksBranch(reads: OutcomeReads, attempt: Attempt, around: Around): Promise<boolean> {
  if (!isRed(attempt.status) || (await isOvertaken(reads, attempt, around))) return false
  const counts = ({ status, seq, buildId, origin, details }: BuildEvent) =>
    buildId !== attempt.buildId &&
    (seq < attempt.finalSeq! || (status === 'success' && origin !== 'history' && !endedLater(details, attempt.details)))
  return lookBack(reads, attempt, around, counts, (history) => breaks(attempt, history))
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
  const around = await readAround(reads, [attempt])
  return lookBack(reads, attempt, around, endsStreak, (history, isCut) => extentTo(attempt, history, isCut))
}

/** The branch's outcomes around the attempts of one card, read once for all of them: a card can have fifty. */
interface Around {
  /** null: these builds share no history with others */
  branch: string | null
  own: readonly Attempt[]
  /** newest build first, up to the newest attempt's */
  outcomes: readonly BuildEvent[]
  /** these are the branch's first outcomes */
  isWhole: boolean
  /** the attempts folded from these outcomes and from `own` */
  history: readonly Attempt[]
  /** a build newer than the newest attempt's had finished before one of the attempts did */
  isOvertakenBeyond: boolean
  /** the long histories that were read, by build order: a build can have a hundred attempts */
  far: Map<string, Promise<{ history: readonly Attempt[]; isCut: boolean }>>
}

async function readAround(reads: OutcomeReads, own: readonly Attempt[]): Promise<Around> {
  const newest = own.at(-1)
  const branch = newest ? branchKeyOf(newest) : null
  if (!newest || branch === null)
    return { branch, own, outcomes: [], isWhole: true, history: own, isOvertakenBeyond: false, far: new Map() }
  const order = newest.buildOrder
  const count = AROUND.find((rows) => rows >= own.length + HISTORY_NEAR) ?? AROUND.at(-1)!
  const lastSeq = Math.max(...own.map(({ finalSeq }) => finalSeq ?? 0))
  const [outcomes, isOvertakenBeyond] = await together([
    reads.verdictsBefore(branch, order, count),
    reads.isOvertaken(branch, order, lastSeq),
  ])
  return {
    branch,
    own,
    outcomes,
    isWhole: outcomes.length < count,
    history: foldHistory(outcomes, own),
    isOvertakenBeyond,
    far: new Map(),
  }
}

/** The numbers of rows to read. Only a few, because a query is prepared for each. */
const AROUND = [HISTORY_NEAR, 16, 64, 256]

/** Whether a newer build of the branch had finished before this attempt did. */
async function isOvertaken(
  reads: OutcomeReads,
  attempt: Attempt,
  { branch, outcomes, isWhole, isOvertakenBeyond }: Around,
) {
  if (branch === null) return false
  const finalSeq = attempt.finalSeq ?? 0
  if (outcomes.some(({ buildOrder, seq }) => seq < finalSeq && buildOrder > attempt.buildOrder)) return true
  const isReached = isWhole || outcomes.at(-1)!.buildOrder <= attempt.buildOrder
  return (isOvertakenBeyond || !isReached) && reads.isOvertaken(branch, attempt.buildOrder, finalSeq)
}

/**
 * Judges an attempt by its branch's outcomes up to its build. Reads more of them if those in `around` may not suffice.
 * @param isEnough whether outcomes before this one cannot change the result
 */
async function lookBack<T>(
  reads: OutcomeReads,
  attempt: Attempt,
  { branch, own, outcomes, isWhole, history, far }: Around,
  isEnough: (outcome: BuildEvent) => boolean,
  judge: (history: readonly Attempt[], isCut: boolean) => T,
): Promise<T> {
  const isBefore = ({ buildOrder }: BuildEvent) => buildOrder <= attempt.buildOrder
  const isKnown = isWhole || outcomes.some((outcome) => isBefore(outcome) && isEnough(outcome))
  if (branch === null || isKnown) return judge(history, false)
  const { buildOrder } = attempt
  if (!far.has(buildOrder)) far.set(buildOrder, readFar(reads, branch, buildOrder, own))
  const long = await far.get(buildOrder)!
  return judge(long.history, long.isCut)
}

async function readFar(reads: OutcomeReads, branch: string, buildOrder: string, own: readonly Attempt[]) {
  const outcomes = await reads.verdictsBefore(branch, buildOrder, OUTCOMES_FAR)
  return { history: foldHistory(outcomes, own), isCut: outcomes.length === OUTCOMES_FAR }
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
