import { mergeDetails, type BuildEvent } from '../domain/build-event.ts'
import { idOrder } from '../domain/ids.ts'
import { branchKey, revisionSubject } from '../domain/revision.ts'
import type { Facilities } from '../domain/offer.ts'
import { breaks, recoveryOf, redStreakTo, type Recovery, type Turn } from '../domain/recovered.ts'
import { credible, isResultOf, restartRequests, type Request } from '../domain/request.ts'
import { foldAttempts, attemptKey, type Attempt } from '../domain/attempt.ts'
import { isRed } from '../domain/status.ts'
import type { Reads } from './store.ts'

// What the stored build events add up to, for whoever needs runs and not rows.

/** How far back a red streak is counted; beyond it is "at least". Most streaks are short: look near first. */
const HISTORY_NEAR = 4
const HISTORY_FAR = 500

/** The interfaces of CI that there are credentials for. */
export interface Interfaces {
  v2: boolean
  legacy: boolean
}

/** One card's worth of a revision: its build events folded, and what people asked of CI about it. */
export interface Revision {
  subject: string
  buildEvents: readonly BuildEvent[]
  attempts: readonly Attempt[]
  requests: readonly Request[]
}

export async function readRevision(reads: Reads, revisionKey: string, cardNumber: number): Promise<Revision> {
  const subject = revisionSubject(revisionKey, cardNumber)
  const all = await reads.requestsOf(revisionKey)
  const buildEvents = credible(await reads.eventsOfCard(revisionKey, cardNumber), all)
  const attempts = foldAttempts(buildEvents, restartRequests(all))
  // While CI is being called, whoever called it has the last word: what was asked on another card may yet be refused.
  const isHere = (request: Request) =>
    request.subject === subject ||
    (request.state !== 'calling' && attempts.some((attempt) => isResultOf(request, attempt, all)))
  return { subject, buildEvents, attempts, requests: all.filter(isHere) }
}

/** What CI can be asked about these attempts, and through which interface. */
export async function facilitiesOf(
  reads: Reads,
  attempts: readonly Attempt[],
  { v2, legacy }: Interfaces,
): Promise<Facilities> {
  if (!v2 && !legacy) return { v2, legacy, project: null }
  const details = mergeDetails(attempts)
  const { projectId } = attempts[0]!.buildEvents[0]!
  const names = [details.projectName, details.projectFullName].filter((name) => name !== null)
  const project = await reads.project({ uuid: details.projectUuid, legacyId: projectId, names })
  return { v2, legacy, project }
}

/** What each attempt did to its branch, by the build event that finished it. */
export async function turnsOf(reads: Reads, attempts: readonly Attempt[]): Promise<Map<number, Turn>> {
  const turns = new Map<number, Turn>()
  const recoveries = await recoveriesOf(reads, attempts)
  for (const attempt of attempts) {
    if (attempt.finalSeq === null) continue
    if (recoveries.has(attemptKey(attempt))) turns.set(attempt.finalSeq, 'recovered')
    else if (isRed(attempt.status) && (await breaksBranch(reads, attempt, attempts)))
      turns.set(attempt.finalSeq, 'broken')
  }
  return turns
}

/** What a card says of red streaks: of each attempt that ended one, and of the newest where it is red itself. */
export async function streaksOf(reads: Reads, attempts: readonly Attempt[]): Promise<Map<string, Recovery>> {
  const streaks = await recoveriesOf(reads, attempts)
  const newest = attempts.at(-1)!
  const red = isRed(newest.status) ? await redSince(reads, newest) : null
  if (red) streaks.set(attemptKey(newest), red)
  return streaks
}

/** The recovery of each attempt that has one. */
export async function recoveriesOf(reads: Reads, attempts: readonly Attempt[]): Promise<Map<string, Recovery>> {
  const recoveries = new Map<string, Recovery>()
  for (const attempt of attempts) {
    const recovery = attempt.status === 'success' ? await recoveryIn(reads, attempt, attempts) : null
    if (recovery) recoveries.set(attemptKey(attempt), recovery)
  }
  return recoveries
}

async function recoveryIn(reads: Reads, attempt: Attempt, own: readonly Attempt[]): Promise<Recovery | null> {
  if (await isOvertaken(reads, attempt)) return null
  // A green one that counts ends the streak, or shows that there is none: what lies before it changes nothing.
  const endsStreak = ({ status, seq, buildId }: BuildEvent) =>
    status === 'success' && buildId !== attempt.buildId && seq < attempt.finalSeq!
  return lookBack(reads, attempt, own, endsStreak, (history, isCut) => recoveryOf(attempt, history, isCut))
}

async function breaksBranch(reads: Reads, attempt: Attempt, own: readonly Attempt[]): Promise<boolean> {
  if (await isOvertaken(reads, attempt)) return false
  const counts = ({ status, seq, buildId }: BuildEvent) =>
    buildId !== attempt.buildId && (status === 'success' || seq < attempt.finalSeq!)
  return lookBack(reads, attempt, own, counts, (history) => breaks(attempt, history))
}

/**
 * How long the branch has been red as of this attempt; null where it is not. An attempt that says nothing of its branch,
 * since it runs, waits or was stopped, leaves the branch as it was.
 */
export async function redSince(reads: Reads, attempt: Attempt): Promise<Recovery | null> {
  if (attempt.status === 'success') return null
  const endsStreak = ({ status, seq, buildId }: BuildEvent) =>
    status === 'success' && (buildId !== attempt.buildId || seq < (attempt.finalSeq ?? Number.POSITIVE_INFINITY))
  return lookBack(reads, attempt, [attempt], endsStreak, (history, isCut) => redStreakTo(attempt, history, isCut))
}

const isOvertaken = async (reads: Reads, attempt: Attempt): Promise<boolean> => {
  const branch = branchKeyOf(attempt)
  return branch !== null && reads.isOvertaken(branch, idOrder(attempt.buildId), attempt.finalSeq ?? 0)
}

/**
 * Judges an attempt by the outcomes of its branch up to its build, of which no more are read than tell.
 * @param isEnough whether what lies before this outcome changes nothing
 */
async function lookBack<T>(
  reads: Reads,
  attempt: Attempt,
  own: readonly Attempt[],
  isEnough: (outcome: BuildEvent) => boolean,
  judge: (history: readonly Attempt[], isCut: boolean) => T,
): Promise<T> {
  const branch = branchKeyOf(attempt)
  // Builds of which no branch is known share no history.
  if (branch === null) return judge(own, false)
  const order = idOrder(attempt.buildId)
  const near = await reads.verdictsBefore(branch, order, HISTORY_NEAR)
  if (near.length < HISTORY_NEAR || near.some(isEnough)) return judge(foldHistory(near, own), false)
  const far = await reads.verdictsBefore(branch, order, HISTORY_FAR)
  return judge(foldHistory(far, own), far.length === HISTORY_FAR)
}

function branchKeyOf(attempt: Attempt): string | null {
  const branch = attempt.buildEvents.findLast((buildEvent) => buildEvent.branch !== null)?.branch ?? null
  return branch === null ? null : branchKey(attempt.buildEvents[0]!.projectId, branch)
}

// A build of this card may have runs on an earlier one, before it rested.
function foldHistory(buildEvents: readonly BuildEvent[], own: readonly Attempt[]): Attempt[] {
  const bySeq = new Map(
    [...buildEvents, ...own.flatMap((attempt) => attempt.buildEvents)].map((buildEvent) => [
      buildEvent.seq,
      buildEvent,
    ]),
  )
  return foldAttempts([...bySeq.values()].toSorted((a, b) => a.seq - b.seq))
}
