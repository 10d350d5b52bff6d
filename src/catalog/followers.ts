import { coversAny, following, type ProjectNames, type Subscription } from '../domain/subscription.ts'
import { isRepositoryId } from '../domain/ids.ts'
import { patternMode } from '../domain/pattern.ts'
import type { ChannelRule } from '../domain/rule.ts'
import type { ProjectRef } from '../domain/project-names.ts'
import type { ClosedChannel, Projects } from '../store/records.ts'
import type { Reads } from '../store/store.ts'

/** The most branches of a project that a subscription's branches are compared with, those with the newest builds. */
export const BRANCHES_MAX = 500

/** For a repository or all projects: so many of them, those with the latest news first, and the newest branches of each. */
const PROJECTS_MAX = 20
const BRANCHES_EACH_MAX = 50

/** The names of the streams that builds of a project, a repository or (null) all projects have had. */
export async function knownBranches(
  reads: Pick<Reads, 'branchesOf' | 'newestBuilds' | 'deliveredAs'>,
  project: Pick<ProjectRef, 'projectId'> | null,
): Promise<string[]> {
  const id = project?.projectId ?? null
  if (project && id === null) return []
  const isWhole = isRepositoryId(id)
  if (id !== null && !isWhole) return reads.branchesOf(id, BRANCHES_MAX)
  const several = isWhole
    ? await reads.deliveredAs([id], PROJECTS_MAX)
    : await reads.newestBuilds(EVERY_PROJECT, PROJECTS_MAX)
  const branches = await Promise.all(several.map(({ projectId }) => reads.branchesOf(projectId, BRANCHES_EACH_MAX)))
  return [...new Set(branches.flat())]
}

const EVERY_PROJECT: Projects = { except: [] }

/** Marks the subscriptions whose channel is closed. */
export function withClosings(
  subscriptions: readonly Subscription[],
  closed: readonly ClosedChannel[],
): readonly Subscription[] {
  if (closed.length === 0) return subscriptions
  const closedAt = new Map(closed.map((one) => [one.channel, one.closedAt]))
  return subscriptions.map((one) => {
    const at = closedAt.get(one.channel)
    return at === undefined ? one : { ...one, closedAt: at }
  })
}

type BranchReads = Pick<Reads, 'branchesOf' | 'newestBuild'>

/**
 * The subscriptions that follow a project. Its branches are read only if they decide whether the default channel's counts.
 * @param branch of a build that is about to be known, if there is one; empty: it names none
 */
export async function followersOf(
  reads: BranchReads,
  subscriptions: readonly Subscription[],
  project: ProjectNames,
  branch: string | null = null,
): Promise<Subscription[]> {
  const followedBy = (branches: readonly string[]) => following(subscriptions, { ...project, branches })
  const ifAllCount = followedBy([])
  if (ifAllCount.some(isDefault) || !subscriptions.some(isDefault)) return ifAllCount
  const open = ifAllCount.filter(({ closedAt }) => !closedAt)
  if (open.some(({ rules }) => coversAny(rules, branch === null ? [] : [branch]))) return ifAllCount
  for (const name of new Set(open.flatMap(({ rules }) => rules ?? []).flatMap(exactName)))
    if (await reads.newestBuild(project.projectId, name)) return ifAllCount
  const known = await reads.branchesOf(project.projectId, BRANCHES_MAX)
  return followedBy(branch === null ? known : [branch, ...known])
}

const exactName = ({ branch, branchMatch }: ChannelRule): string[] =>
  branch !== null && patternMode(branch, branchMatch) === 'exact' ? [branch] : []

const isDefault = ({ follows }: Subscription): boolean => follows.what === 'unfollowed'
