import { following } from '../../domain/subscription.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { Subscription } from '../../domain/subscription.ts'
import type { KnownBuild } from '../../store/kept.ts'
import type { BuildSummary } from '../../catalog/outcomes.ts'
import { summariesOf } from '../../catalog/find-build.ts'
import type { Me } from '../people/outcomes.ts'
import { readMe } from '../people/me.ts'
import { namedProjects } from '../subscriptions/names.ts'
import { shownOf } from '../subscriptions/shown.ts'
import { readAdmin } from './admin.ts'
import { COUNTED_MAX, type HomeOutcome, type HomeState, type Some } from './outcomes.ts'
import type { HomeDeps } from './deps.ts'

/** How much of each list is shown: together they stay well below Slack's hundred blocks. */
export const BUILDS_SHOWN_MAX = 10
export const SUBSCRIPTIONS_SHOWN_MAX = 20

/** What people's App Homes show, read afresh each time. */
export const homeOperations = (deps: HomeDeps) => ({
  async home(user: string, team: string | null): Promise<HomeOutcome> {
    const permit = await deps.permits('read', { user, team })
    if (permit.kind !== 'yes') return permit
    const [mayFollow, isAdmin] = await Promise.all([
      deps.permits('subscribe', { user, team }),
      deps.permits('administer', { user, team }),
    ])
    const may = { mayFollow: mayFollow.kind === 'yes', isAdmin: isAdmin.kind === 'yes' }
    return { kind: 'home', home: await readHome(deps, user, may) }
  },
})

async function readHome(
  deps: HomeDeps,
  user: string,
  { mayFollow, isAdmin }: { mayFollow: boolean; isAdmin: boolean },
): Promise<HomeState> {
  const [me, all, channels] = await Promise.all([
    readMe(deps.store.read, user),
    deps.subscriptions(),
    deps.channelsOf(user),
  ])
  const mine = channels && all.filter(({ channel }) => channels.has(channel))
  return {
    me,
    red: await readRed(deps, me),
    waiting: await readWaiting(deps, all, channels),
    subscriptions: mine && (await cutShown(deps, mine)),
    mayFollow,
    admin: isAdmin ? await readAdmin(deps, all, channels) : null,
  }
}

async function readRed(deps: HomeDeps, { handles }: Me): Promise<Some<BuildSummary>> {
  const names = handles.map(({ handle }) => handle)
  return summed(deps, await deps.store.read.redBuildsOf(names, COUNTED_MAX))
}

async function readWaiting(
  deps: HomeDeps,
  all: readonly Subscription[],
  channels: ReadonlySet<ChannelId> | null,
): Promise<Some<BuildSummary>> {
  const { read } = deps.store
  const named = await namedProjects(read)
  const followed = named.filter(({ names }) => following(all, names).some(({ channel }) => channels?.has(channel)))
  const ids = followed.flatMap(({ project }) => project.projectId ?? [])
  return summed(deps, await read.waitingBuilds(followed.length === 0 ? null : ids, COUNTED_MAX))
}

async function summed({ store, interfaces }: HomeDeps, builds: readonly KnownBuild[]): Promise<Some<BuildSummary>> {
  const shown = builds.slice(0, BUILDS_SHOWN_MAX)
  return { shown: await summariesOf({ reads: store.read, interfaces }, shown), more: builds.length - shown.length }
}

async function cutShown(deps: HomeDeps, mine: readonly Subscription[]): Promise<HomeState['subscriptions']> {
  const counted = mine.slice(0, COUNTED_MAX)
  const shown = counted.slice(0, SUBSCRIPTIONS_SHOWN_MAX)
  return { shown: await shownOf(deps, shown), more: counted.length - shown.length }
}
