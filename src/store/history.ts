import { mergeDetails, type Fact } from '../domain/fact.ts'
import { idOrder } from '../domain/ids.ts'
import { branchKey } from '../domain/revision.ts'
import type { Facilities } from '../domain/offer.ts'
import { recoveryOf, redStreakTo, type Recovery } from '../domain/recovered.ts'
import { credible, isAttempt, restartsAsked, type Request } from '../domain/request.ts'
import { foldRuns, runKey, type Run } from '../domain/run.ts'
import { isRed } from '../domain/status.ts'
import { revisionSubject } from '../domain/subject.ts'
import type { Reads } from './store.ts'

// What the stored facts add up to, for whoever needs runs and not rows.

/** How far back a red streak is counted; beyond it is "at least". Most streaks are short: look near first. */
const HISTORY_NEAR = 4
const HISTORY_FAR = 500

/** The interfaces of CI that there are credentials for. */
export interface Interfaces {
  v2: boolean
  legacy: boolean
}

/** One card's worth of a revision: its facts folded, and what people asked of CI about it. */
export interface Revision {
  subject: string
  facts: readonly Fact[]
  runs: readonly Run[]
  requests: readonly Request[]
}

export async function readRevision(reads: Reads, revisionKey: string, episode: number): Promise<Revision> {
  const subject = revisionSubject(revisionKey, episode)
  const all = await reads.requestsOf(revisionKey)
  const facts = credible(await reads.factsOfEpisode(revisionKey, episode), all)
  const runs = foldRuns(facts, restartsAsked(all))
  // While CI is being called, whoever called it has the last word: what was asked on another card may yet be refused.
  const isHere = (request: Request) =>
    request.subject === subject || (request.state !== 'calling' && runs.some((run) => isAttempt(request, run, all)))
  return { subject, facts, runs, requests: all.filter(isHere) }
}

/** What CI can be asked about these runs, and through which interface. */
export async function facilitiesOf(
  reads: Reads,
  runs: readonly Run[],
  { v2, legacy }: Interfaces,
): Promise<Facilities> {
  if (!v2 && !legacy) return { v2, legacy, project: null }
  const details = mergeDetails(runs)
  const { projectId } = runs[0]!.facts[0]!
  const names = [details.projectName, details.projectFullName].filter((name) => name !== null)
  const project = await reads.project({ uuid: details.projectUuid, legacyId: projectId, names })
  return { v2, legacy, project }
}

/** The recovery of each run that has one. */
export async function recoveriesOf(reads: Reads, runs: readonly Run[]): Promise<Map<string, Recovery>> {
  const recoveries = new Map<string, Recovery>()
  for (const run of runs) {
    const recovery = run.status === 'success' ? await recoveryIn(reads, run, runs) : null
    if (recovery) recoveries.set(runKey(run), recovery)
  }
  return recoveries
}

/** How long the branch of a red run has been red; null for a run that is not red. */
export async function redSince(reads: Reads, run: Run): Promise<Recovery | null> {
  if (!isRed(run.status)) return null
  const branch = branchOf(run)
  if (branch === null) return redStreakTo(run, [], false)
  const key = branchKey(run.facts[0]!.projectId, branch)
  const before = await reads.verdictsBefore(key, idOrder(run.buildId), HISTORY_FAR)
  return redStreakTo(run, foldHistory(before, [run]), before.length === HISTORY_FAR)
}

async function recoveryIn(reads: Reads, run: Run, own: readonly Run[]): Promise<Recovery | null> {
  const branch = branchOf(run)
  // Builds of which no branch is known share no history.
  if (branch === null) return recoveryOf(run, own)
  const key = branchKey(run.facts[0]!.projectId, branch)
  const order = idOrder(run.buildId)
  if (await reads.isOvertaken(key, order, run.finalSeq ?? 0)) return null
  for (const limit of [HISTORY_NEAR, HISTORY_FAR]) {
    const before = await reads.verdictsBefore(key, order, limit)
    const isCut = before.length === limit
    const recovery = recoveryOf(run, foldHistory(before, own), isCut)
    // A green one that counts ends the streak, or shows that there is none: what lies before it changes nothing.
    const sawEnd = before.some(
      ({ status, seq, buildId }) => status === 'success' && buildId !== run.buildId && seq < run.finalSeq!,
    )
    if (sawEnd || !isCut || limit === HISTORY_FAR) return recovery
  }
  return null
}

const branchOf = (run: Run): string | null => run.facts.findLast((fact) => fact.branch !== null)?.branch ?? null

// A build of this card may have runs on an earlier one, before it rested.
function foldHistory(facts: readonly Fact[], own: readonly Run[]): Run[] {
  const bySeq = new Map([...facts, ...own.flatMap((run) => run.facts)].map((fact) => [fact.seq, fact]))
  return foldRuns([...bySeq.values()].toSorted((a, b) => a.seq - b.seq))
}
