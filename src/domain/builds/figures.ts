import { foldBuild, type RestartRequest } from './attempt.ts'
import type { BuildEvent } from './build-event.ts'
import { compareOrders, type ProjectId } from '../ids.ts'
import { isRed, isVerdict, type Status } from './status.ts'

// Figures of builds over a period. Pure: the same build events always give the same figures.

/** From `from` (inclusive) to `to` (exclusive), in ms. */
export interface Period {
  from: number
  to: number
}

/** An attempt that passed or ended red. Attempts that were stopped or never ran do not count. */
export interface Outcome {
  projectId: ProjectId
  branch: string | null
  /** project, branch and commit */
  revisionKey: string
  buildOrder: string
  /** the attempt of its build: 1 for the first */
  n: number
  status: Status
  /** when it ended by the source's clock, but no later than we received it (ms) */
  endedAt: number
  /** `seq` of the build event that ended it */
  endSeq: number
  /** null if the source did not say when it began */
  durationMs: number | null
}

/** The part of an outcome that gives its branch's state. */
export type BranchState = Pick<Outcome, 'buildOrder' | 'endSeq' | 'status'>

/** @param buildEvents all build events of one build, in order of receipt */
export function outcomesOf(
  buildEvents: readonly (BuildEvent & { revisionKey: string })[],
  restarts: readonly RestartRequest[],
): Outcome[] {
  const first = buildEvents[0]
  if (!first) return []
  const branch = buildEvents.findLast((one) => one.branch !== null)?.branch ?? null
  return foldBuild(buildEvents, restarts).attempts.flatMap(
    ({ status, buildOrder, n, finalAt, finalSeq, durationMs }) => {
      const end = buildEvents.find(({ seq }) => seq === finalSeq)
      if (!isVerdict(status) || !end || finalAt === null) return []
      // If the source's clock is ahead, the receipt counts. So every build that ended in a period was received after it
      // began.
      const endedAt = Math.min(finalAt, end.at)
      const { projectId, revisionKey } = first
      return [{ projectId, branch, revisionKey, buildOrder, n, status, endedAt, endSeq: end.seq, durationMs }]
    },
  )
}

export interface Count {
  builds: number
  passed: number
}

/** A branch of a project. A GitHub workflow counts as a project. */
interface OfBranch {
  projectId: ProjectId
  branch: string
}

export interface Red extends OfBranch {
  forMs: number
}

/** Commits with an outcome, how many of them failed and passed later, and how long those failed attempts ran. */
export interface Flaky extends OfBranch {
  commits: number
  flaky: number
  lostMs: number
}

/** The median duration of passed attempts, in the period before and in this one. */
export interface Slower extends OfBranch {
  beforeMs: number
  nowMs: number
}

export interface Figures extends Count {
  before: Count
  /** one for each day of the query, in order */
  days: readonly Count[]
  /** branches, in no order */
  red: readonly Red[]
  flaky: readonly Flaky[]
  slower: readonly Slower[]
}

/** The query: a period, the one before it to compare with, and the starts of days up to the period's end (ms). */
export interface FigureQuery {
  period: Period
  before: Period
  days: readonly number[]
}

/**
 * The figures of one project.
 * @param outcomes all that were received since the query's earliest time
 * @param standing the state of each of their branches before that time
 */
export function figuresOf(
  outcomes: readonly Outcome[],
  standing: ReadonlyMap<string, BranchState>,
  { period, before, days }: FigureQuery,
): Figures {
  const now = outcomes.filter((one) => isIn(one, period))
  const earlier = outcomes.filter((one) => isIn(one, before))
  const branches = Map.groupBy(
    outcomes.filter((one) => one.branch !== null),
    (one) => one.branch!,
  )
  const figures = { ...count(now), before: count(earlier), days: byDay(outcomes, days, period.to) }
  const lists = { red: [] as Red[], flaky: [] as Flaky[], slower: [] as Slower[] }
  for (const [branch, all] of branches) {
    const { projectId } = all[0]!
    const forMs = timeRed(all, standing.get(branch) ?? null, period)
    if (forMs > 0) lists.red.push({ projectId, branch, forMs })
    const inPeriod = all.filter((one) => isIn(one, period))
    const flaky = flakyAmong(inPeriod)
    if (flaky.flaky > 0) lists.flaky.push({ projectId, branch, ...flaky })
    const slower = grownSlower(
      all.filter((one) => isIn(one, before)),
      inPeriod,
    )
    if (slower) lists.slower.push({ projectId, branch, ...slower })
  }
  return { ...figures, ...lists }
}

export const noFigures = ({ days }: FigureQuery): Figures => ({
  ...NONE,
  before: NONE,
  days: days.map(() => NONE),
  red: [],
  flaky: [],
  slower: [],
})

const NONE: Count = { builds: 0, passed: 0 }

export const joinFigures = (a: Figures, b: Figures): Figures => ({
  ...sum(a, b),
  before: sum(a.before, b.before),
  days: a.days.map((day, at) => sum(day, b.days[at] ?? NONE)),
  red: [...a.red, ...b.red],
  flaky: [...a.flaky, ...b.flaky],
  slower: [...a.slower, ...b.slower],
})

const sum = (a: Count, b: Count): Count => ({ builds: a.builds + b.builds, passed: a.passed + b.passed })

const isIn = ({ endedAt }: Outcome, { from, to }: Period): boolean => endedAt >= from && endedAt < to

const count = (outcomes: readonly Outcome[]): Count => ({
  builds: outcomes.length,
  passed: outcomes.filter(({ status }) => status === 'success').length,
})

const byDay = (outcomes: readonly Outcome[], days: readonly number[], end: number): Count[] =>
  days.map((from, at) => count(outcomes.filter((one) => isIn(one, { from, to: days[at + 1] ?? end }))))

/**
 * How long the branch was red within the period (ms). Its state at any time is that of the newest build that had ended
 * by then; an older build that ends later changes nothing.
 */
function timeRed(outcomes: readonly Outcome[], standing: BranchState | null, { from, to }: Period): number {
  let newest = standing
  let since = from
  let redMs = 0
  const pass = (until: number) => {
    const end = Math.min(Math.max(until, from), to)
    if (newest && isRed(newest.status)) redMs += end - since
    since = end
  }
  for (const one of outcomes.toSorted((a, b) => a.endedAt - b.endedAt || a.endSeq - b.endSeq)) {
    if (newest && compareState(one, newest) < 0) continue
    pass(one.endedAt)
    newest = one
  }
  pass(to)
  return redMs
}

const compareState = (a: BranchState, b: BranchState): number =>
  compareOrders(a.buildOrder, b.buildOrder) || a.endSeq - b.endSeq

// Only `failed` attempts count: a CI machine error says nothing about the commit.
function flakyAmong(outcomes: readonly Outcome[]): Omit<Flaky, keyof OfBranch> {
  const commits = [...Map.groupBy(outcomes, ({ revisionKey }) => revisionKey).values()]
  let [flaky, lostMs] = [0, 0]
  for (const attempts of commits) {
    const ordered = attempts.toSorted((a, b) => compareOrders(a.buildOrder, b.buildOrder) || a.n - b.n)
    const lastPassed = ordered.findLastIndex(({ status }) => status === 'success')
    const madeGood = ordered.slice(0, Math.max(0, lastPassed)).filter(({ status }) => status === 'failed')
    if (madeGood.length > 0) flaky += 1
    for (const { durationMs } of madeGood) lostMs += durationMs ?? 0
  }
  return { commits: commits.length, flaky, lostMs }
}

/** A median of fewer builds is not meaningful. */
const SLOWER_BUILDS_MIN = 5
/** A smaller increase, as a factor or in time, is not worth a line. */
const SLOWER_SHARE = 1.25
const SLOWER_MS_MIN = 60_000

function grownSlower(before: readonly Outcome[], now: readonly Outcome[]): Omit<Slower, keyof OfBranch> | null {
  const [beforeMs, nowMs] = [medianPassed(before), medianPassed(now)]
  if (beforeMs === null || nowMs === null) return null
  return nowMs >= beforeMs * SLOWER_SHARE && nowMs - beforeMs >= SLOWER_MS_MIN ? { beforeMs, nowMs } : null
}

function medianPassed(outcomes: readonly Outcome[]): number | null {
  const passed = outcomes.filter(({ status }) => status === 'success').flatMap(({ durationMs }) => durationMs ?? [])
  if (passed.length < SLOWER_BUILDS_MIN) return null
  const sorted = passed.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
