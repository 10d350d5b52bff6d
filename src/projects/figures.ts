import { DAY_MS, type DigestPeriod } from '../domain/rules/digest.ts'
import type { Figures, FigureQuery } from '../domain/builds/figures.ts'
import { sourceOf, type ChannelId, type ProjectId } from '../domain/ids.ts'
import type { DigestView, Listed } from '../domain/cards/view.ts'
import { collectFigures } from '../store/figures.ts'
import type { DeliveredProject, Projects } from '../store/records.ts'
import type { Reads } from '../store/store.ts'
import { redNow, type EndGone } from './streaks.ts'
import type { FindDeps } from './find-build.ts'
import { deliveredById } from './followers.ts'
import { followedBy, type FollowedDeps } from './projects.ts'

export interface FigureDeps extends FindDeps, FollowedDeps {
  /** older builds are removed */
  retentionDays: number
}

export interface DigestViewDeps extends FigureDeps {
  /** the user's name in Slack; null if Slack does not say */
  nameOf: (user: string) => Promise<string | null>
  endGone: EndGone
}

export const DIGEST_LINES_MAX = 5

export async function digestView(
  deps: DigestViewDeps,
  channel: ChannelId,
  digestPeriod: DigestPeriod,
  now: number,
): Promise<DigestView> {
  const { projects } = await followedBy(deps, channel)
  const { query, since } = withinRetention(digestPeriod, now - deps.retentionDays * DAY_MS)
  const { read } = deps.store
  const figures = await collectFigures(read, projects, query)
  const red = await redNow(deps, projects)
  const ids = [...figures.red, ...figures.flaky, ...figures.slower, ...red.builds.map(({ ref }) => ref)]
  const name = nameLookup(
    await deliveredById(
      read,
      ids.map(({ projectId }) => projectId),
    ),
  )
  const { builds, passed, before } = figures
  return {
    kind: 'digest',
    about: await commonName(read, projects),
    every: digestPeriod.kind === 'weekly' ? 'week' : 'day',
    firstDay: digestPeriod.firstDay,
    lastDay: digestPeriod.lastDay,
    since,
    builds,
    passed,
    before: before.builds === 0 ? null : before,
    days: figures.days.map((day, at) => ({ ...day, day: digestPeriod.dayNames[at]! })),
    red: worst(figures.red, (a, b) => b.forMs - a.forMs, name),
    redNow: await withOwners(deps, red, name),
    flaky: worstFlaky(figures, DIGEST_LINES_MAX, name),
    slower: worst(figures.slower, (a, b) => b.nowMs / b.beforeMs - a.nowMs / a.beforeMs, name),
    picture: null,
  }
}

/** Cuts the periods to the time for which all builds are kept. `since`: the new beginning (ms); null: not cut. */
export function withinRetention(requested: FigureQuery, keptFrom: number) {
  const { period, before } = requested
  const query: FigureQuery = {
    ...requested,
    period: { from: Math.max(period.from, keptFrom), to: period.to },
    // Half of the previous period would not be a fair comparison, so leave it out.
    before: before.from < keptFrom ? { from: before.to, to: before.to } : before,
  }
  return { query, since: period.from < keptFrom ? keptFrom : null }
}

type Name = (projectId: ProjectId) => string

/** The projects' names as cards show them: for a GitHub workflow, the repository and the workflow. */
export const nameLookup =
  (projects: ReadonlyMap<string, DeliveredProject>): Name =>
  (projectId) => {
    const project = projects.get(projectId)
    return project ? nameOf(project) : `project ${projectId}`
  }

const nameOf = ({ projectId, name, fullName }: DeliveredProject): string =>
  sourceOf(projectId) === 'ci' ? (fullName ?? name) : name

/** `acme/web` if there is only that project, `acme` if all projects are acme's; else null. */
async function commonName(reads: Reads, projects: Projects): Promise<string | null> {
  // If the first and the last name begin with `acme/`, then so do all between them.
  const [first, last] = [
    ...(await reads.deliveredProjects(projects, 'asc', 1)),
    ...(await reads.deliveredProjects(projects, 'desc', 1)),
  ].map(nameOf)
  if (first === undefined || last === undefined) return null
  if (first === last) return first
  const [owner, ...rest] = first.split('/')
  return rest.length > 0 && last.startsWith(`${owner}/`) ? owner || null : null
}

/** Branches with the most flaky commits first, then those that lost the most time. */
export const worstFlaky = ({ flaky }: Figures, max: number, name: Name): DigestView['flaky'] =>
  worst(flaky, (a, b) => b.flaky - a.flaky || b.lostMs - a.lostMs, name, max)

function worst<Figure extends { projectId: ProjectId; branch: string }>(
  all: readonly Figure[],
  compare: (a: Figure, b: Figure) => number,
  name: Name,
  max = DIGEST_LINES_MAX,
): Listed<Figure> {
  const named = all.map((one) => ({ ...one, project: name(one.projectId) }))
  const byName = (a: { project: string; branch: string }, b: { project: string; branch: string }) =>
    a.project.localeCompare(b.project, 'en') || a.branch.localeCompare(b.branch, 'en')
  const sorted = named.sort((a, b) => compare(a, b) || byName(a, b))
  return { shown: sorted.slice(0, max), more: Math.max(0, sorted.length - max) }
}

/** The red branches as `/ci red` lists them, but with people's names: a digest mentions nobody. */
async function withOwners(
  deps: DigestViewDeps,
  { builds, more }: Awaited<ReturnType<typeof redNow>>,
  name: Name,
): Promise<DigestView['redNow']> {
  const shown = builds.map(async ({ ref, branch, streak: since, ownership }) => {
    const owner = ownership?.owner
    const onIt = owner && { name: await deps.nameOf(owner.user), since: owner.since, until: owner.until }
    return { project: name(ref.projectId), branch: branch ?? '', since, ...(onIt && { onIt }) }
  })
  return { shown: (await Promise.all(shown)).filter(({ branch }) => branch !== ''), more }
}
