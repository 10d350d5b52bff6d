import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RestartRequest } from '../domain/attempt.ts'
import {
  figuresOf,
  joinFigures,
  noFigures,
  outcomesOf,
  type Figures,
  type Outcome,
  type FigureQuery,
  type BranchState,
} from '../domain/figures.ts'
import type { BuildId, ProjectId } from '../domain/ids.ts'
import { branchKey } from '../domain/revision.ts'
import type { StoredEvent } from './records.ts'
import { redBranches, type RedReads } from './red-branches.ts'

export interface FigureReads {
  /** The project's build events that finish a build, received at that time (ms) or later, in order, after this one. */
  endsAfter(
    projectId: ProjectId,
    place: { at: number; seq: number },
    limit: number,
  ): Promise<{ at: number; seq: number; buildId: BuildId }[]>
  /** Every build event of these builds of a project, in order of receipt, and the restarts requested for them. */
  eventsAndRestartsOf(
    projectId: ProjectId,
    buildIds: readonly BuildId[],
  ): Promise<{ buildEvents: StoredEvent[]; restarts: RestartRequest[] }>
  /** The outcome of the branch's newest build, among those received before then (ms). */
  branchStateBefore(branchKey: string, at: number): Promise<BranchState | null>
}

/** The reads that figures need. */
type FigureStore = FigureReads & RedReads

/** Outcomes read at once, before the event loop gets to do other work. */
const ENDS_AT_ONCE = 100

/** At most this many branches are read that were red before the periods began and have had no build since. */
const RED_BRANCHES_MAX = 500

/** The sum of these projects' figures, with one project at a time in memory. */
export async function collectFigures(
  reads: FigureStore,
  projectIds: readonly ProjectId[],
  query: FigureQuery,
): Promise<Figures> {
  let all = noFigures(query)
  const since = Math.min(query.before.from, query.period.from, ...query.days)
  const built = new Set<string>()
  for (const projectId of projectIds) {
    const outcomes = await readOutcomes(reads, projectId, since)
    if (outcomes.length === 0) continue
    const states = await branchStatesOf(reads, projectId, outcomes, since)
    for (const branch of states.keys()) built.add(branchKey(projectId, branch))
    all = joinFigures(all, figuresOf(outcomes, states, query))
  }
  return { ...all, red: [...all.red, ...(await redThroughout(reads, projectIds, query, built))] }
}

async function readOutcomes(reads: FigureStore, projectId: ProjectId, since: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const seen = new Set<BuildId>()
  let place = { at: since, seq: 0 }
  while (true) {
    const ends = await reads.endsAfter(projectId, place, ENDS_AT_ONCE)
    const fresh = [...new Set(ends.map(({ buildId }) => buildId))].filter((id) => !seen.has(id))
    for (const id of fresh) seen.add(id)
    if (fresh.length > 0) {
      const { buildEvents, restarts } = await reads.eventsAndRestartsOf(projectId, fresh)
      for (const own of Map.groupBy(buildEvents, ({ buildId }) => buildId).values())
        outcomes.push(...outcomesOf(own, restarts).filter(({ endedAt, endSeq }) => isKept(own, endSeq, endedAt, since)))
    }
    // After a project's last outcomes too: a channel may follow thousands of projects with few builds.
    await nextTurn()
    if (ends.length < ENDS_AT_ONCE) return outcomes
    place = ends.at(-1)!
  }
}

// Leaves out an old attempt of a build that was rerun: it is part of the branch's state before the periods.
const isKept = (own: readonly StoredEvent[], endSeq: number, endedAt: number, since: number): boolean =>
  endedAt >= since || own.some(({ seq, at }) => seq === endSeq && at >= since)

async function branchStatesOf(
  reads: FigureStore,
  projectId: ProjectId,
  outcomes: readonly Outcome[],
  since: number,
): Promise<Map<string, BranchState>> {
  const states = new Map<string, BranchState>()
  for (const branch of new Set(outcomes.flatMap((one) => one.branch ?? []))) {
    const before = await reads.branchStateBefore(branchKey(projectId, branch), since)
    states.set(branch, before ?? NOT_BUILT)
  }
  return states
}

/** Comes before every build. */
const NOT_BUILT: BranchState = { buildOrder: '', endSeq: 0, status: 'unknown' }

/** Branches that are red and on which no build ended since the periods began. */
async function redThroughout(
  reads: FigureStore,
  projectIds: readonly ProjectId[],
  { period }: FigureQuery,
  built: ReadonlySet<string>,
): Promise<Figures['red']> {
  const red = await redBranches(reads, projectIds, RED_BRANCHES_MAX)
  return red.flatMap(({ projectId, branch }) =>
    branch === null || built.has(branchKey(projectId, branch))
      ? []
      : [{ projectId, branch, forMs: period.to - period.from }],
  )
}
