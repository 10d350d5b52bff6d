import {
  coversAny,
  following,
  leastDetails,
  type ProjectNames,
  type Subscription,
} from '../domain/rules/subscription.ts'
import { isRepositoryId, type ChannelId } from '../domain/ids.ts'
import { patternMode } from '../domain/rules/pattern.ts'
import type { ChannelRule } from '../domain/rules/rule.ts'
import type { ProjectRef } from '../domain/ci-project/project-names.ts'
import type { Details } from '../domain/builds/failure.ts'
import type { ClosedChannel, Projects, DeliveredProject, Card } from '../store/records.ts'
import type { Reads, Tx } from '../store/store.ts'
import type { BuildEvent } from '../domain/builds/build-event.ts'
import { noticeDay } from '../domain/cards/view.ts'
import { noticeSubject } from '../domain/builds/revision.ts'
import type { StoredMessage } from '../domain/cards/plan.ts'

// Projects as builds name them.

/** The names that a project's builds use, which decide the channels that follow it. */
export const namesOf = ({ projectId, projectUuid, name, fullName }: DeliveredProject): ProjectNames => ({
  projectId,
  projectUuid,
  names: [name, fullName],
})

/** The most projects with one name that are told apart. */
export const NAMESAKES_MAX = 1_000

/** Projects by their ids, as builds name them. */
export async function deliveredById(
  reads: Pick<Reads, 'deliveredAs'>,
  ids: readonly string[],
): Promise<Map<string, DeliveredProject>> {
  const delivered = ids.length === 0 ? [] : await reads.deliveredAs(ids, ids.length + NAMESAKES_MAX)
  return new Map(delivered.map((project) => [project.projectId, project]))
}

/** The most branches of a project that a subscription's branches are compared with, those with the newest builds. */
export const BRANCHES_MAX = 500

/**
 * For a repository or all projects: how many of them, latest news first, and how many of each one's newest branches.
 */
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
 * @param branch of a build that is not stored yet, if there is one; empty: it names none
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

/**
 * How much of what failed in a project's builds an answer shows: in a channel that follows the project, as much as its cards
 * do. Elsewhere no messages, and nothing if a channel that follows it shows nothing.
 * @param branch of the build, if it is about one
 */
export async function detailsShown(
  reads: BranchReads & Pick<Reads, 'deliveredAs'>,
  subscriptions: readonly Subscription[],
  projectId: string,
  { channel, branch = null }: { channel: ChannelId | null; branch?: string | null },
): Promise<Details | undefined> {
  const project = (await deliveredById(reads, [projectId])).get(projectId)
  const followers = project ? await followersOf(reads, subscriptions, namesOf(project), branch) : []
  // A channel whose branches leave this one out has no card of it.
  const isMeant = ({ rules }: Subscription) => branch === null || coversAny(rules, [branch])
  const here = followers.filter((one) => one.channel === channel && isMeant(one))
  return leastDetails(here.length > 0 ? here : [...followers, { details: 'names' }])
}

const exactName = ({ branch, branchMatch }: ChannelRule): string[] =>
  branch !== null && patternMode(branch, branchMatch) === 'exact' ? [branch] : []

const isDefault = ({ follows }: Subscription): boolean => follows.what === 'unfollowed'

// While a channel is closed, the default channel gets its builds, except those that the channel had already shown.

/**
 * The build events of a card that closed channels have already shown, and that another channel would get instead.
 * @param subscriptions of that other channel
 */
export async function shownInstead(
  reads: Pick<Reads, 'card' | 'decisionsOf' | 'messagesOf'>,
  subject: string,
  subscriptions: readonly Subscription[],
  buildEvents: readonly Pick<BuildEvent, 'seq' | 'at'>[],
): Promise<ReadonlySet<number>> {
  const shown = new Set<number>()
  for (const channel of new Set(subscriptions.flatMap(({ insteadOf }) => insteadOf ?? []))) {
    const card = await reads.card({ subject, channel })
    if (card?.queues.post) return new Set()
    // A pending edit shows what was decided after the last post, so the message may not show it yet.
    const before = waits(card) ? lastPost(await reads.messagesOf({ subject, channel })) : Number.POSITIVE_INFINITY
    const decided = (await reads.decisionsOf({ subject, channel })).filter(({ decidedAt }) => decidedAt < before)
    const decisions = new Map(decided.map((one) => [one.eventSeq, one.reason]))
    for (const { seq, at } of buildEvents.filter((one) => decisions.has(one.seq))) {
      const notice = { subject: noticeSubject(noticeDay(at)), channel }
      if (decisions.get(seq) !== 'account-notice' || !waits(await reads.card(notice))) shown.add(seq)
    }
  }
  return shown
}

/** Includes an unclear one: while its channel is closed, nothing can show whether it arrived. */
const waits = (card: Card | null): boolean => card !== null && Object.values(card.queues).some((due) => due !== null)

/** When the bot began to post the newest message that arrived (ms); 0: none did. */
const lastPost = (messages: readonly StoredMessage[]): number =>
  Math.max(0, ...messages.filter(({ state }) => state === 'posted').map(({ claimedAt }) => claimedAt))

/** At most this many revisions are woken at once. */
export const WOKEN_MAX = 200

/** Wakes the revisions of which a closed channel has not shown everything, so that the default channel gets them. */
export async function wakeUnshown(tx: Tx, closed: ChannelId, substitute: ChannelId, now: number): Promise<number> {
  const revisions = await tx.unshownIn(closed, substitute, WOKEN_MAX)
  for (const key of revisions) await tx.wakeRevision(key, now, 0)
  return revisions.length
}
