import { isAccountNotice } from '../../domain/builds/status.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { KnownBuild } from '../../store/records.ts'
import { redBranches } from '../../store/streaks.ts'
import type { Target, BuildSummary, NotFound, Where } from '../../projects/outcomes.ts'
import { RED_COUNTED_MAX } from '../../projects/streaks.ts'
import {
  detailedSummaryOf,
  findBuild,
  isBuildNumber,
  summariesOf,
  type FindBuildDeps,
} from '../../projects/find-build.ts'
import { findProject, followedBy, type FollowedDeps } from '../../projects/projects.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'

/** The builds that run now. */
export interface RunningOutcome {
  kind: 'running'
  where: Where
  builds: readonly BuildSummary[]
  /** how many further builds are not listed */
  more: number
}

export type StatusOutcome =
  /** the last builds of one branch, or one build */
  | { kind: 'status'; project: ProjectRef; branch: string | null; builds: readonly BuildSummary[] }
  | ({ kind: 'project-status'; project: ProjectRef } & NewestBuilds)
  /** if no project was named */
  | ChannelStatus
  | NotFound

export type ChannelStatus = { kind: 'channel-status'; where: Where } & NewestBuilds

/** The last build of each branch, or of each project; those of red branches first. */
export interface NewestBuilds {
  builds: readonly BuildSummary[]
  /** how many further builds are not listed */
  more: number
  /** how many branches are red, listed or not */
  red: number
}

/** The most builds in one answer: each takes one or two of Slack's fifty blocks. */
export const STATUS_BUILDS_MAX = 10

export const LAST_BUILDS = 5

/** Further builds are counted up to here; beyond it the answer says "at least". */
export const COUNTED_MAX = 1_000

const RUNNING_MAX = 100
const BRANCHES_MAX = 200

export type StatusDeps = FindBuildDeps & FollowedDeps

export type StatusQuery =
  | { project: string | null; branch: string | null; channel: ChannelId | null }
  | { target: Target; channel: ChannelId | null }

/** The last build of each branch of a project; the last builds of one branch; or those of the channel's projects. */
export async function buildStatus(deps: StatusDeps, query: StatusQuery): Promise<StatusOutcome> {
  const { channel } = query
  if ('target' in query) return statusOfTarget(deps, query.target, channel)
  const { project: text, branch } = query
  if (text === null) return statusOfChannel(deps, channel)
  if (branch !== null) return statusOfTarget(deps, { kind: 'project', project: text, branch }, channel)
  if (await isBuildNumber(deps.store.read, text))
    return statusOfTarget(deps, { kind: 'build-number', number: text, project: null }, channel)
  const named = await findProject(deps.store.read, text)
  if (named.kind !== 'project') return named
  const { project } = named
  const { projectId } = project
  const noBuild: StatusOutcome = { kind: 'no-build', project: project.name, branch: null, nearest: null }
  if (projectId === null) return noBuild
  const { read } = deps.store
  const redOnes = await redBranches(read, { only: [projectId] }, BRANCHES_MAX)
  const red = new Set(redOnes.flatMap((one) => one.branch ?? []))
  const branches = [...red, ...(await read.branchesOf(projectId, BRANCHES_MAX)).filter((name) => !red.has(name))]
  // The project may have only builds without a branch.
  const wanted = branches.length > 0 ? branches.slice(0, STATUS_BUILDS_MAX) : [undefined]
  const newest = await Promise.all(wanted.map((name) => read.newestBuild(projectId, name)))
  const builds = newest.filter((build) => build !== null)
  const [only] = builds
  if (!only) return noBuild
  const more = branches.length === 0 ? 0 : branches.length - builds.length
  if (builds.length + more === 1) return statusOfTarget(deps, { kind: 'run', ref: only }, channel)
  return { kind: 'project-status', project, builds: await summariesOf(deps, builds), more, red: red.size }
}

async function statusOfTarget(deps: StatusDeps, target: Target, channel: ChannelId | null): Promise<StatusOutcome> {
  const result = await findBuild(deps, target)
  if (result.kind !== 'found') return result
  const build = await detailedSummaryOf(deps, result.found, channel)
  const { projectId } = build.ref
  const project = { projectId, uuid: null, name: build.project, type: null }
  const branch = target.kind === 'project' ? build.branch : null
  const last = branch === null ? [] : await deps.store.read.lastBuilds(projectId, branch, LAST_BUILDS)
  const before = last.filter(({ buildId }) => buildId !== build.ref.buildId)
  return { kind: 'status', project, branch: build.branch, builds: [build, ...(await summariesOf(deps, before))] }
}

/**
 * Red branches come first, so that a newer build of another branch of the project hides none of them.
 * @param counted what is counted, since it takes long: `more` needs the builds, `red` the red branches
 */
export async function statusOfChannel(
  deps: StatusDeps,
  channel: ChannelId | null,
  counted: 'builds' | 'red' | 'nothing' = 'builds',
): Promise<ChannelStatus> {
  const { read } = deps.store
  const { projects, where } = await followedBy(deps, channel)
  const [first, red, others, count] = await Promise.all([
    redBranches(read, projects, STATUS_BUILDS_MAX),
    counted === 'nothing' ? 0 : read.countRed(projects, RED_COUNTED_MAX),
    read.newestBuilds(projects, STATUS_BUILDS_MAX, 'not-red'),
    counted === 'builds' ? read.countNewest(projects, COUNTED_MAX, 'not-red') : 0,
  ])
  // A branch may have passed between two reads.
  const isFirst = (one: KnownBuild) =>
    first.some((shown) => shown.projectId === one.projectId && shown.buildId === one.buildId)
  // A build that the account's limits kept from running says nothing about its project.
  const told = others.filter((one) => !isAccountNotice(one.status) && !isFirst(one))
  const shown = [...first, ...told].slice(0, STATUS_BUILDS_MAX)
  const more = red + count - (others.length - told.length) - shown.length
  return { kind: 'channel-status', where, builds: await summariesOf(deps, shown), more, red }
}

/** The running builds of the projects that the channel follows, or of all. */
export async function runningBuilds(deps: StatusDeps, channel: ChannelId | null): Promise<RunningOutcome> {
  const { projects, where } = await followedBy(deps, channel)
  const running = await deps.store.read.runningBuilds(projects, RUNNING_MAX)
  const shown = running.slice(0, STATUS_BUILDS_MAX)
  return { kind: 'running', where, builds: await summariesOf(deps, shown), more: running.length - shown.length }
}
