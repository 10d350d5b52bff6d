import type { BuildEvent } from '../domain/builds/build-event.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RestartRequest } from '../domain/builds/attempt.ts'
import {
  figuresOf,
  joinFigures,
  noFigures,
  outcomesOf,
  type Figures,
  type Outcome,
  type FigureQuery,
  type BranchState,
} from '../domain/builds/figures.ts'
import { buildKey, type BuildId, type ProjectId } from '../domain/ids.ts'
import { branchKey } from '../domain/builds/revision.ts'
import type { Projects } from './records.ts'
import { redBranches, type RedReads } from './streaks.ts'

/** The end of a build: `at` is when it was received (ms). */
export interface BuildEnd {
  at: number
  seq: number
  projectId: ProjectId
  buildId: BuildId
}

export interface FigureReads {
  /**
   * Build events that finish a build of this project (null: of any), received at that time (ms) or later, in order, after
   * this one.
   */
  endsAfter(projectId: ProjectId | null, place: { at: number; seq: number }, limit: number): Promise<BuildEnd[]>
  /** Those of these projects in which a build ended at that time (ms) or later. */
  builtSince(projectIds: readonly string[], at: number): Promise<ProjectId[]>
  /** Those of these projects that are among `projects`. */
  projectsAmong(projectIds: readonly string[], projects: Projects): Promise<ProjectId[]>
  /** Every build event of these builds (`project_id/build_id`), in order of receipt, and the restarts requested for them. */
  eventsAndRestartsOf(
    buildKeys: readonly string[],
  ): Promise<{ buildEvents: BuildEvent[]; restarts: (RestartRequest & { projectId: ProjectId })[] }>
  /** The outcome of each branch's newest build, among those received before then (ms); branches without one are left out. */
  branchStatesBefore(branchKeys: readonly string[], at: number): Promise<(BranchState & { branchKey: string })[]>
}

type FigureStore = FigureReads & RedReads

/** Outcomes read at once; between two reads, the event loop does other work. */
const ENDS_AT_ONCE = 100

/** At most this many branches are read that were red before the periods began and have had no build since. */
const RED_BRANCHES_MAX = 500

/** The same for projects, and for ends that are only counted. */
const COUNTED_AT_ONCE = 1_000

/** Builds by project; null: there are too many to read at once. */
type Built = Map<ProjectId, Set<BuildId> | null>

/** The builds of these projects that ended at that time (ms) or later. How long it takes depends on how many. */
export async function buildsSince(reads: FigureReads, projects: Projects, since: number): Promise<Built> {
  const built: Built = new Map()
  if ('only' in projects) {
    for (const ids of slicesOf(projects.only, COUNTED_AT_ONCE)) {
      for (const id of await reads.builtSince(ids, since)) {
        const ends = await reads.endsAfter(id, { at: since, seq: 0 }, ENDS_AT_ONCE)
        built.set(id, ends.length < ENDS_AT_ONCE ? new Set(ends.map(({ buildId }) => buildId)) : null)
      }
      await nextTurn()
    }
    return built
  }
  let place: { at: number; seq: number } | undefined = { at: since, seq: 0 }
  while (place) {
    const ends: BuildEnd[] = await reads.endsAfter(null, place, COUNTED_AT_ONCE)
    for (const { projectId, buildId } of ends) {
      const ids = built.get(projectId)
      if (ids === null) continue
      const more = (ids ?? new Set()).add(buildId)
      built.set(projectId, more.size < ENDS_AT_ONCE ? more : null)
    }
    await nextTurn()
    place = ends.length < COUNTED_AT_ONCE ? undefined : ends.at(-1)
  }
  const meant = new Set<string>()
  for (const ids of slicesOf([...built.keys()], COUNTED_AT_ONCE)) {
    for (const id of await reads.projectsAmong(ids, projects)) meant.add(id)
    await nextTurn()
  }
  return new Map([...built].filter(([id]) => meant.has(id)))
}

export function* slicesOf<One>(all: readonly One[], size: number): Generator<readonly One[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}

/** The time (ms) from which builds count for these figures. */
export const firstOf = ({ before, period, days }: FigureQuery): number => Math.min(before.from, period.from, ...days)

/** The sum of these projects' figures. */
export async function collectFigures(reads: FigureStore, projects: Projects, query: FigureQuery): Promise<Figures> {
  const { figures, seen } = await figuresOfBuilt(reads, await buildsSince(reads, projects, firstOf(query)), query)
  return { ...figures, red: [...figures.red, ...(await redThroughout(reads, projects, query, seen))] }
}

/**
 * The same without the branches on which nothing was built, with a few small projects or one large one at a time in
 * memory; and which branches were built.
 * @param built the builds since `firstOf(query)`
 */
export async function figuresOfBuilt(
  reads: FigureReads,
  built: Built,
  query: FigureQuery,
): Promise<{ figures: Figures; seen: ReadonlySet<string> }> {
  let all = noFigures(query)
  const since = firstOf(query)
  const seen = new Set<string>()
  for await (const outcomes of outcomesSince(reads, built, since)) {
    const byProject = Map.groupBy(outcomes, ({ projectId }) => projectId)
    const states = await branchStates(reads, outcomes, since)
    for (const key of states.keys()) seen.add(key)
    for (const [projectId, own] of byProject) {
      const branches = [...new Set(own.flatMap((one) => one.branch ?? []))]
      const ownStates = branches.map((branch) => [branch, states.get(branchKey(projectId, branch))!] as const)
      all = joinFigures(all, figuresOf(own, new Map(ownStates), query))
    }
    await nextTurn()
  }
  return { figures: all, seen }
}

/** All outcomes of a project come together. */
async function* outcomesSince(reads: FigureReads, built: Built, since: number): AsyncGenerator<Outcome[]> {
  let keys: string[] = []
  for (const [projectId, ids] of built) {
    if (ids === null) {
      yield await outcomesOfLarge(reads, projectId, since)
      continue
    }
    if (keys.length + ids.size > ENDS_AT_ONCE) {
      yield await outcomesIn(reads, keys, since)
      keys = []
    }
    keys.push(...[...ids].map((id) => buildKey(projectId, id)))
  }
  if (keys.length > 0) yield await outcomesIn(reads, keys, since)
}

async function outcomesOfLarge(reads: FigureReads, projectId: ProjectId, since: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const seen = new Set<BuildId>()
  let place = { at: since, seq: 0 }
  while (true) {
    const ends = await reads.endsAfter(projectId, place, ENDS_AT_ONCE)
    const fresh = [...new Set(ends.map(({ buildId }) => buildId))].filter((id) => !seen.has(id))
    for (const id of fresh) seen.add(id)
    const keys = fresh.map((id) => buildKey(projectId, id))
    outcomes.push(...(await outcomesIn(reads, keys, since)))
    await nextTurn()
    if (ends.length < ENDS_AT_ONCE) return outcomes
    place = ends.at(-1)!
  }
}

async function outcomesIn(reads: FigureReads, keys: readonly string[], since: number): Promise<Outcome[]> {
  if (keys.length === 0) return []
  const { buildEvents, restarts } = await reads.eventsAndRestartsOf(keys)
  const byProject = Map.groupBy(restarts, ({ projectId }) => projectId)
  const builds = Map.groupBy(buildEvents, ({ projectId, buildId }) => buildKey(projectId, buildId))
  return [...builds.values()].flatMap((own) =>
    outcomesOf(own, byProject.get(own[0]!.projectId) ?? []).filter(({ endedAt, endSeq }) =>
      isKept(own, endSeq, endedAt, since),
    ),
  )
}

// Leaves out an old attempt of a build that was rerun: it is part of the branch's state before the periods.
const isKept = (own: readonly BuildEvent[], endSeq: number, endedAt: number, since: number): boolean =>
  endedAt >= since || own.some(({ seq, at }) => seq === endSeq && at >= since)

/** The state before then of each branch of these outcomes, by its key. */
async function branchStates(
  reads: FigureReads,
  outcomes: readonly Outcome[],
  since: number,
): Promise<Map<string, BranchState>> {
  const keys = outcomes.flatMap(({ projectId, branch }) => (branch === null ? [] : branchKey(projectId, branch)))
  const states = new Map<string, BranchState>(keys.map((key) => [key, NOT_BUILT]))
  for (const some of slicesOf([...states.keys()], ENDS_AT_ONCE)) {
    for (const state of await reads.branchStatesBefore(some, since)) states.set(state.branchKey, state)
    await nextTurn()
  }
  return states
}

/** Sorts before every build. */
const NOT_BUILT: BranchState = { buildOrder: '', endSeq: 0, status: 'unknown' }

/** Branches that are red and on which no build ended since the periods began. */
async function redThroughout(
  reads: FigureStore,
  projects: Projects,
  { period }: FigureQuery,
  built: ReadonlySet<string>,
): Promise<Figures['red']> {
  const red = await redBranches(reads, projects, RED_BRANCHES_MAX)
  return red.flatMap(({ projectId, branch }) =>
    branch === null || built.has(branchKey(projectId, branch))
      ? []
      : [{ projectId, branch, forMs: period.to - period.from }],
  )
}
