import {
  redSinceOf,
  shownBreakage,
  type Breakage,
  type RedSince,
  type ShownBreakage,
} from '../domain/builds/breakage.ts'
import { mergeDetails, type BuildEvent } from '../domain/builds/build-event.ts'
import { branchKey, revisionSubject } from '../domain/builds/revision.ts'
import { capabilitiesOf, type Capabilities, type Configured } from '../domain/cards/capabilities.ts'
import { breaks, endedLater, recoveryOf, redStreakTo, type Turn } from '../domain/builds/recovered.ts'
import { credible, isResultOf, restartRequests, type Request } from '../domain/cards/request.ts'
import { foldAttempts, attemptKey, type Attempt } from '../domain/builds/attempt.ts'
import { isRed } from '../domain/builds/status.ts'
import { hasStreak } from '../domain/builds/stream.ts'
import type { CardView } from '../domain/cards/view.ts'
import { together } from '../lib/async.ts'
import type { CardKey } from './records.ts'
import type { Reads } from './store.ts'

// Derives attempts, recoveries and streaks from the stored build events.

/** A red streak is counted up to OUTCOMES_FAR, then it is "at least". Most are short: few outcomes are read first. */
const HISTORY_NEAR = 4
export const OUTCOMES_FAR = 500

/**
 * Outcomes of a branch that are read first where all count. More are rarely needed, since most branches passed
 * recently.
 */
export const OUTCOMES_NEAR = 8

/** Sorts after every build order. */
export const LAST_ORDER = '~'

/** One card of a revision: its build events, the attempts folded from them, and the requests about them. */
export interface Revision {
  subject: string
  buildEvents: readonly BuildEvent[]
  attempts: readonly Attempt[]
  requests: readonly Request[]
}

export async function readRevision(reads: Reads, revisionKey: string, cardNumber: number): Promise<Revision> {
  const subject = revisionSubject(revisionKey, cardNumber)
  const [all, stored] = await together([reads.requestsOf(revisionKey), reads.eventsOfCard(revisionKey, cardNumber)])
  const buildEvents = credible(stored, all)
  const attempts = foldAttempts(buildEvents, restartRequests(all))
  // A request from another card counts if its result is on this card, but not while CI may still refuse it.
  const isHere = (request: Request) =>
    request.subject === subject ||
    (request.state !== 'calling' && attempts.some((attempt) => isResultOf(request, attempt, all)))
  return { subject, buildEvents, attempts, requests: all.filter(isHere) }
}

/** What can be done with one attempt of a card. */
export async function readCapabilities(
  reads: Reads,
  attempt: Attempt,
  { attempts, requests }: Pick<Revision, 'attempts' | 'requests'>,
  configured: Configured,
): Promise<Capabilities> {
  if (!Object.values(configured).includes(true)) return capabilitiesOf(attempt, requests, configured, null)
  const details = mergeDetails(attempts)
  const { projectId } = attempts[0]!.buildEvents[0]!
  const names = [details.projectName, details.projectFullName].filter((name) => name !== null)
  const project = await reads.project({ uuid: details.projectUuid, legacyId: projectId, names })
  return capabilitiesOf(attempt, requests, configured, project)
}

/** Each attempt's effect on its branch, by the build event that finished it. */
export async function turnsOf(reads: Reads, attempts: readonly Attempt[]): Promise<Map<number, Turn>> {
  const turns = new Map<number, Turn>()
  const around = await readAround(reads, attempts)
  for (const attempt of attempts) {
    if (attempt.finalSeq === null) continue
    if (await recoveryIn(reads, attempt, around)) turns.set(attempt.finalSeq, 'recovered')
    else if (await breaksBranch(reads, attempt, around)) turns.set(attempt.finalSeq, 'broken')
  }
  return turns
}

/**
 * The red streaks that a card shows: each that one of its attempts ended, and the current one if its newest is red.
 * @param candidates the attempts that may have ended one
 */
export async function streaksOf(
  reads: Reads,
  attempts: readonly Attempt[],
  candidates: readonly Attempt[],
): Promise<Map<string, RedSince>> {
  const streaks = await recoveriesOf(reads, attempts, candidates)
  const newest = attempts.at(-1)!
  const red = isRed(newest.status) ? await redSince(reads, newest) : null
  if (red) streaks.set(attemptKey(newest), red)
  return streaks
}

/** The recovery of each candidate that has one. */
export async function recoveriesOf(
  reads: Reads,
  attempts: readonly Attempt[],
  candidates = attempts,
): Promise<Map<string, RedSince>> {
  const recoveries = new Map<string, RedSince>()
  if (candidates.length === 0) return recoveries
  const around = await readAround(reads, attempts)
  for (const attempt of candidates) {
    const recovery = await recoveryIn(reads, attempt, around)
    if (recovery) recoveries.set(attemptKey(attempt), recovery)
  }
  return recoveries
}

async function recoveryIn(reads: Reads, attempt: Attempt, around: Around): Promise<RedSince | null> {
  if (attempt.status !== 'success' || (await isOvertaken(reads, attempt, around))) return null
  // A success ends the streak, or shows that there is none, so outcomes before it do not matter.
  const endsStreak = ({ status, seq, buildId }: BuildEvent) =>
    status === 'success' && buildId !== attempt.buildId && seq < attempt.finalSeq!
  return lookBack(reads, attempt, around, endsStreak, (history, isCut) => recoveryOf(attempt, history, isCut))
}

async function breaksBranch(reads: Reads, attempt: Attempt, around: Around): Promise<boolean> {
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
export async function redSince(reads: Reads, attempt: Attempt): Promise<RedSince | null> {
  if (attempt.status === 'success') return null
  const open = await breakageTo(reads, attempt)
  if (open) return redSinceOf(open)
  const endsStreak = ({ status, seq, buildId }: BuildEvent) =>
    status === 'success' && (buildId !== attempt.buildId || seq < (attempt.finalSeq ?? Number.POSITIVE_INFINITY))
  const around = await readAround(reads, [attempt])
  return lookBack(reads, attempt, around, endsStreak, (history, isCut) => redStreakTo(attempt, history, isCut))
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

async function readAround(reads: Reads, own: readonly Attempt[]): Promise<Around> {
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
async function isOvertaken(reads: Reads, attempt: Attempt, { branch, outcomes, isWhole, isOvertakenBeyond }: Around) {
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
  reads: Reads,
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

async function readFar(reads: Reads, branch: string, buildOrder: string, own: readonly Attempt[]) {
  const outcomes = await reads.verdictsBefore(branch, buildOrder, OUTCOMES_FAR)
  return { history: foldHistory(outcomes, own), isCut: outcomes.length === OUTCOMES_FAR }
}

/** The branch's open breakage with its owner, if this attempt is of its newest failure or of a later build. */
export async function shownBreakageAt(reads: Reads, attempt: Attempt, now: number): Promise<ShownBreakage | null> {
  const open = await breakageTo(reads, attempt)
  return open && shownBreakage(open, now)
}

/** The same for a card. Only the newest card with a failure in each channel shows it, with what has failed since. */
export async function shownBreakageOn(
  reads: Reads,
  attempt: Attempt,
  { subject, channel }: CardKey,
  now: number,
): Promise<CardView['breakage'] | null> {
  const branch = branchKeyOf(attempt)
  const open = branch === null ? null : await reads.openBreakage(branch)
  if (!open || attempt.buildOrder < open.beganOrder) return null
  if (subject === revisionSubject(open.revisionKey, open.cardNumber)) return shownBreakage(open, now)
  const [newest] = await reads.breakageCards(open, channel)
  return newest?.subject === subject ? { ...shownBreakage(open, now), grown: redSinceOf(open) } : null
}

/** The branch's open breakage, if this attempt is of its newest failure or of a later build. */
async function breakageTo(reads: Reads, attempt: Attempt): Promise<Breakage | null> {
  const branch = branchKeyOf(attempt)
  const open = branch === null ? null : await reads.openBreakage(branch)
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
