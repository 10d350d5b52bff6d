import type { Clock } from '../../lib/clock.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import { normalHandle } from '../../domain/handle.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { branchKey } from '../../domain/builds/revision.ts'
import { isRed } from '../../domain/builds/status.ts'
import type { KnownBuild, ClosedChannel } from '../../store/records.ts'
import type { Reads } from '../../store/store.ts'
import type { BuildSummary, Permits } from '../../projects/outcomes.ts'
import { summariesOf, type FindDeps } from '../../projects/find-build.ts'
import { type Me, readMe } from '../../projects/people.ts'
import { followedIn } from '../../projects/projects.ts'
import { shownOf, type ShownDeps, type ShownSubscription } from '../../projects/subscriptions.ts'
import {
  isProjectRequest,
  type ProjectRequest,
  type ProjectAction,
  type Request,
  type Action,
  type RequestState,
} from '../../domain/cards/request.ts'
import type { Permit } from '../../slack/api/permission.ts'
import type { Memberships } from '../../slack/api/directory.ts'
import type { Connection, Connections } from '../../sources/ci-service/source.ts'

/** How much of each list is shown: together they stay well below Slack's hundred blocks. `follows`: of each channel */
export const SHOWN_MAX = { builds: 10, subscriptions: 20, deliveries: 15, paused: 10, follows: 3, audit: 10 }

/** What a person's App Home shows. Everything is read again each time. */
export async function readHome(deps: HomeDeps, user: string, team: string | null): Promise<HomeOutcome> {
  const permit = await deps.permits('read', { user, team })
  if (permit.kind !== 'yes') return permit
  const [isAdmin, me, all, channels] = await Promise.all([
    deps.permits('administer', { user, team }),
    readMe(deps.store.read, user),
    deps.subscriptions(),
    deps.channelsOf(user),
  ])
  const mine = channels && all.filter(({ channel }) => channels.has(channel))
  const home: HomeState = {
    me,
    red: await readRed(deps, me),
    waiting: await readWaiting(deps, all, channels),
    subscriptions: mine && (await cutShown(deps, mine)),
    admin: isAdmin.kind === 'yes' ? await readAdmin(deps, all, channels) : null,
  }
  return { kind: 'home', home }
}

async function readRed(deps: HomeDeps, { handles }: Me): Promise<Some<BuildSummary>> {
  const { read } = deps.store
  const names = handles.map(({ handle }) => handle)
  const mine = new Set(names.map(normalHandle))
  const running = (await read.runningBuilds(null, COUNTED_MAX)).filter(
    ({ committer }) => committer !== null && mine.has(committer),
  )
  const again = await Promise.all(running.map((build) => ranRed(read, build)))
  return summed(deps, [...running.filter((_, at) => again[at]), ...(await read.redBuildsOf(names, COUNTED_MAX))])
}

/** Whether this running build is a restart of the branch's last red one. The branch stays red until it passes. */
async function ranRed(read: Reads, { projectId, branch, buildId, buildOrder }: KnownBuild): Promise<boolean> {
  const [last] = await read.verdictsBefore(branchKey(projectId, branch), buildOrder, 1)
  return last?.buildId === buildId && isRed(last.status)
}

async function readWaiting(
  deps: HomeDeps,
  all: readonly Subscription[],
  channels: ReadonlySet<ChannelId> | null,
): Promise<Some<BuildSummary>> {
  const { read } = deps.store
  const followed = channels && (await followedIn(read, all, (channel) => channels.has(channel)))
  return summed(deps, await read.waitingBuilds(followed, COUNTED_MAX))
}

async function summed(deps: HomeDeps, builds: readonly KnownBuild[]): Promise<Some<BuildSummary>> {
  const { shown, more } = someOf(builds, SHOWN_MAX.builds)
  return { shown: await summariesOf(deps, shown), more }
}

async function cutShown(deps: HomeDeps, mine: readonly Subscription[]): Promise<Some<ShownSubscription>> {
  const { shown, more } = someOf(mine.slice(0, COUNTED_MAX), SHOWN_MAX.subscriptions)
  return { shown: await shownOf(deps, shown), more }
}

/** What only admins see. @param channels the channels that this admin is in; null: not known */
async function readAdmin(
  deps: HomeDeps,
  all: readonly Subscription[],
  channels: ReadonlySet<ChannelId> | null,
): Promise<AdminState> {
  const { read } = deps.store
  const [deliveries, requests] = await Promise.all([
    read.lastDeliveries(COUNTED_MAX),
    read.newestRequests(SHOWN_MAX.audit),
  ])
  return {
    connections: deps.connections.all(),
    deliveries: someOf(deliveries, SHOWN_MAX.deliveries),
    paused: await readPaused(deps, all, channels),
    audit: requests.map(auditLine),
  }
}

const someOf = <One>(all: readonly One[], max: number): Some<One> => ({
  shown: all.slice(0, max),
  more: Math.max(0, all.length - max),
})

async function readPaused(
  deps: HomeDeps,
  all: readonly Subscription[],
  channels: ReadonlySet<ChannelId> | null,
): Promise<Some<PausedChannel>> {
  const closed = await deps.store.read.closedChannels()
  const concerned = closed.filter(({ channel }) => all.some((one) => one.channel === channel)).slice(0, COUNTED_MAX)
  const { shown, more } = someOf(concerned, SHOWN_MAX.paused)
  return { shown: await Promise.all(shown.map((one) => paused(deps, one, all, channels))), more }
}

async function paused(
  deps: HomeDeps,
  { channel, code, closedAt }: ClosedChannel,
  all: readonly Subscription[],
  channels: ReadonlySet<ChannelId> | null,
): Promise<PausedChannel> {
  const own = all.filter((one) => one.channel === channel).slice(0, SHOWN_MAX.follows)
  return { channel, code, at: closedAt, follows: channels?.has(channel) ? await shownOf(deps, own) : null }
}

const auditLine = (request: Request | ProjectRequest): AuditLine => ({
  at: request.requestedAt,
  by: request.requestedBy,
  action: request.action,
  state: request.state,
  ...(isProjectRequest(request)
    ? { project: request.project, buildId: null, branch: null }
    : { project: request.target.project, buildId: request.buildId, branch: request.target.branch }),
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
  /** builds of the person's own commits that leave their branch red, newest first */
  red: Some<BuildSummary>
  /** builds that wait for approval or in a queue, of the projects that the person's channels follow; if none, of all */
  waiting: Some<BuildSummary>
  /** only of channels that the person is in; null: Slack did not say which these are */
  subscriptions: Some<ShownSubscription> | null
  /** set for admins */
  admin: AdminState | null
}

export interface AdminState {
  connections: readonly Connection[]
  /** the time of each project's last delivery, the newest first */
  deliveries: Some<{ project: string; at: number }>
  paused: Some<PausedChannel>
  /** the last requests of people to CI, the newest first */
  audit: readonly AuditLine[]
}

/** A channel that Buildline cannot post in. */
export interface PausedChannel {
  channel: ChannelId
  /** Slack's error code */
  code: string
  at: number
  /** null: the admin is not in the channel; a private channel's subscriptions are shown to its members only */
  follows: readonly ShownSubscription[] | null
}

export interface AuditLine {
  at: number
  /** a Slack user */
  by: string
  action: Action | ProjectAction
  project: string
  buildId: string | null
  branch: string | null
  state: RequestState
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
  connections: Pick<Connections, 'all'>
}
