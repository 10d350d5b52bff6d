import type { Clock } from '../../lib/clock.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import { normalHandle } from '../../domain/handle.ts'
import { branchKey } from '../../domain/builds/revision.ts'
import { isRed } from '../../domain/builds/status.ts'
import type { KnownBuild, Projects } from '../../store/records.ts'
import { redBranches } from '../../store/streaks.ts'
import type { Reads } from '../../store/store.ts'
import type { BuildSummary, Permits } from '../../projects/outcomes.ts'
import { summariesOf, type FindDeps } from '../../projects/find-build.ts'
import { type Me, readMe } from '../../projects/people.ts'
import { followedIn } from '../../projects/projects.ts'
import { heldBy } from '../../projects/streaks.ts'
import { shownOf, type ShownDeps, type ShownSubscription } from '../../projects/subscriptions.ts'
import type { Permit } from '../../slack/api/permission.ts'
import type { Memberships } from '../../slack/api/directory.ts'

/** How much of each list is shown: together they stay well below Slack's hundred blocks. */
export const SHOWN_MAX = { builds: 10, subscriptions: 20 }

/** What a person's App Home shows. Everything is read again each time. */
export async function readHome(deps: HomeDeps, user: string, team: string | null): Promise<HomeOutcome> {
  const permit = await deps.permits('read', { user, team })
  if (permit.kind !== 'yes') return permit
  const [me, all, channels] = await Promise.all([
    readMe(deps.store.read, user),
    deps.subscriptions(),
    deps.channelsOf(user),
  ])
  const mine = channels && all.filter(({ channel }) => channels.has(channel))
  const followed = channels && (await followedIn(deps.store.read, all, (channel) => channels.has(channel)))
  const red = await redOf(deps, me)
  const home: HomeState = {
    me,
    red: await summed(deps, red),
    othersRed: followed && (await summed(deps, await othersRed(deps, followed, red))),
    waiting: await summed(deps, await deps.store.read.waitingBuilds(followed, COUNTED_MAX)),
    subscriptions: mine && (await cutShown(deps, mine)),
  }
  return { kind: 'home', home }
}

/** The red branches that the person is on, and those that builds of their own commits leave red: one build of each. */
async function redOf(deps: HomeDeps, { user, handles }: Me): Promise<KnownBuild[]> {
  const { read } = deps.store
  const owned = await heldBy(deps, user)
  const newest = await Promise.all(owned.map(({ projectId, branch }) => read.newestBuild(projectId, branch)))
  const names = handles.map(({ handle }) => handle)
  const mine = new Set(names.map(normalHandle))
  const running = (await read.runningBuilds(null, COUNTED_MAX)).filter(
    ({ committer }) => committer !== null && mine.has(committer),
  )
  const again = await Promise.all(running.map((build) => ranRed(read, build)))
  const own = [...running.filter((_, at) => again[at]), ...(await read.redBuildsOf(names, COUNTED_MAX))]
  const owns = new Set(own.map(branchOf))
  return [...newest.flatMap((build) => (build && !owns.has(branchOf(build)) ? build : [])), ...own]
}

/** Whether this running build is a restart of the branch's last red one. The branch stays red until it passes. */
async function ranRed(read: Reads, { projectId, branch, buildId, buildOrder }: KnownBuild): Promise<boolean> {
  const [last] = await read.verdictsBefore(branchKey(projectId, branch), buildOrder, 1)
  return last?.buildId === buildId && isRed(last.status)
}

/** The other red branches of these projects. */
async function othersRed({ store }: HomeDeps, followed: Projects, red: readonly KnownBuild[]): Promise<KnownBuild[]> {
  const known = new Set(red.map(branchOf))
  return (await redBranches(store.read, followed, COUNTED_MAX)).filter((build) => !known.has(branchOf(build)))
}

const branchOf = ({ projectId, branch }: KnownBuild): string => branchKey(projectId, branch)

async function summed(deps: HomeDeps, builds: readonly KnownBuild[]): Promise<Some<BuildSummary>> {
  const { shown, more } = someOf(builds, SHOWN_MAX.builds)
  return { shown: await summariesOf(deps, shown), more }
}

async function cutShown(deps: HomeDeps, mine: readonly Subscription[]): Promise<Some<ShownSubscription>> {
  const { shown, more } = someOf(mine.slice(0, COUNTED_MAX), SHOWN_MAX.subscriptions)
  return { shown: await shownOf(deps, shown), more }
}

const someOf = <One>(all: readonly One[], max: number): Some<One> => ({
  shown: all.slice(0, max),
  more: Math.max(0, all.length - max),
})

/** Counting stops here. If there are more, the view says "at least". */
export const COUNTED_MAX = 100

/** The first entries of a list, and how many more there are (at least, if both together are COUNTED_MAX). */
export interface Some<One> {
  shown: readonly One[]
  more: number
}

/** What one person's App Home shows. Times are ms since the epoch. */
export interface HomeState {
  me: Me
  /** one build for each red branch that the person is on, or that their own commits left red */
  red: Some<BuildSummary>
  /** the same for the other red branches of what the person's channels follow; null: they follow nothing, or are not known */
  othersRed: Some<BuildSummary> | null
  /** builds that wait for approval or in a queue, of the projects that the person's channels follow; if none, of all */
  waiting: Some<BuildSummary>
  /** only of channels that the person is in; null: Slack did not say which these are */
  subscriptions: Some<ShownSubscription> | null
}

export type HomeOutcome =
  | { kind: 'home'; home: HomeState }
  /** such as an outsider: nothing is shown */
  | Extract<Permit, { kind: 'no' }>
  | { kind: 'unknown-person'; code: string }

export interface HomeDeps extends ShownDeps, Pick<FindDeps, 'configured'> {
  clock: Clock
  permits: Permits
  subscriptions: () => Promise<readonly Subscription[]>
  channelsOf: Memberships['channelsOf']
}
