import { joinProjects, matchProjects, type ProjectRef } from '../domain/project-names.ts'
import { nearest } from '../lib/nearest.ts'
import type { DeliveredProject, KnownBuild, KnownProject } from '../store/records.ts'
import type { Reads, Store } from '../store/store.ts'
import { CHOICES_MAX } from '../slack/messages/ids.ts'
import type { ProjectNotFound, Requester, Where } from './outcomes.ts'
import { WHOLE_READING, refreshProjects, type Refreshed, type RefreshProjects } from './reading.ts'
import type { CiRules } from '../domain/decide.ts'
import { slackRules } from '../domain/rule.ts'
import { following, type ProjectNames, type Subscription } from '../domain/subscription.ts'
import type { Clock } from '../lib/clock.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { Memberships } from '../slack/api/directory.ts'

/** Every project that CI lists or that a delivery named. */
export async function allProjects(reads: Reads): Promise<ProjectRef[]> {
  const [listed, delivered] = await Promise.all([reads.projects(), reads.deliveredProjects()])
  return joinProjects(listed.map(ofListed), delivered.map(ofDelivered))
}

/** The one project that a text names, by full name, a unique part of it, uuid or CI's id. */
export async function findProject(
  reads: Reads,
  text: string,
): Promise<{ kind: 'project'; project: ProjectRef } | ProjectNotFound> {
  const all = await allProjects(reads)
  const [first, ...others] = matchProjects(all, text)
  if (!first) {
    const isListRead = (await reads.lastDoneAt(WHOLE_READING)) !== null
    return { kind: 'no-project', text, nearest: nearestName(all, text), isListRead }
  }
  if (others.length === 0) return { kind: 'project', project: first }
  const projects = [first, ...others].slice(0, CHOICES_MAX)
  return { kind: 'several-projects', text, projects, more: others.length + 1 - projects.length }
}

/** Projects whose names begin with a text, then those that contain it; if none does, what `matchProjects` finds. */
export async function suggestProjects(reads: Reads, text: string): Promise<ProjectRef[]> {
  const all = await allProjects(reads)
  const searched = text.trim().toLowerCase()
  const placeOf = ({ name }: ProjectRef) => Math.min(1, name.toLowerCase().indexOf(searched))
  const named = all.filter((project) => placeOf(project) >= 0)
  return named.length > 0 ? named.toSorted((a, b) => placeOf(a) - placeOf(b)) : matchProjects(all, text)
}

export interface FollowedDeps {
  store: Pick<Store, 'read'>
  subscriptions: () => Promise<readonly Subscription[]>
}

/** The projects that a channel follows; all projects if it follows none. */
export async function followedBy(
  { store, subscriptions }: FollowedDeps,
  channel: ChannelId | null,
): Promise<{ projects: DeliveredProject[]; where: Where }> {
  const [delivered, all] = [await store.read.deliveredProjects(), await subscriptions()]
  const followed = delivered.filter(({ projectId, projectUuid, name, fullName }) =>
    following(all, { projectId, projectUuid, names: [name, fullName] }).some((one) => one.channel === channel),
  )
  return followed.length > 0 ? { projects: followed, where: 'channel' } : { projects: delivered, where: 'everywhere' }
}

/** The newest build of each project; latest news first. */
export async function newestBuilds(
  reads: Pick<Reads, 'newestBuild'>,
  projects: readonly Pick<DeliveredProject, 'projectId'>[],
): Promise<KnownBuild[]> {
  const newest = await Promise.all(projects.map(({ projectId }) => reads.newestBuild(projectId)))
  return newest.filter((build) => build !== null).sort((a, b) => b.at - a.at)
}

// People type the last part of a name more often than the whole.
function nearestName(all: readonly ProjectRef[], text: string): string | null {
  const names = all.map(({ name }) => name)
  const whole = nearest(text, names)
  if (whole) return whole
  const part = nearest(
    text,
    names.map((name) => name.split('/').at(-1)!),
  )
  return names.find((name) => name.split('/').at(-1) === part) ?? null
}

/** A project with a legacy id and no known type is Basic: the legacy interface lists only those. */
export const ofListed = ({ uuid, name, legacyId, type }: KnownProject): ProjectRef => ({
  projectId: legacyId,
  uuid,
  name,
  type: type ?? (legacyId === null ? null : 'basic'),
})

const ofDelivered = ({ projectId, name, fullName, projectUuid }: DeliveredProject) => ({
  projectId,
  uuid: projectUuid,
  name,
  fullName,
  type: null,
})

/** If CI did not list a project, its list is read again only after this time, so that CI is not flooded. */
const ASK_AGAIN_MS = 30_000

export interface ProjectRules {
  /** The project's rules for Slack, as last read. Null: not known. `wait`: CI is being read now; ask again soon. */
  rulesOf(project: ProjectNames): Promise<CiRules | 'wait'>
  /** Reads all projects again. Concurrent callers share one reading. */
  refresh(): Promise<Refreshed>
}

/** The cache of CI's own rules. No caller waits for CI, even if it is slow or down. */
export function createProjectRules(deps: RefreshProjects & { store: Store; clock: Clock }): ProjectRules {
  const isConfigured = deps.v2 !== null
  let reading: Promise<Refreshed> | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let isAway = false

  function refresh(): Promise<Refreshed> {
    reading ??= refreshProjects(deps)
      .then((refreshed) => {
        isAway = refreshed.failure !== null
        return refreshed
      })
      .finally(() => {
        reading = null
        readAt = deps.clock.now()
      })
    return reading
  }

  return {
    refresh,
    async rulesOf({ projectId, projectUuid, names }) {
      const known = await deps.store.read.project({
        uuid: projectUuid,
        legacyId: projectId,
        names: names.filter((name) => name !== null),
      })
      if (known?.rules) return slackRules(known.rules)
      if (!isConfigured) return null
      if (!reading && deps.clock.now() - readAt > ASK_AGAIN_MS) void refresh().catch(() => {})
      // If the last reading failed, the next one may fail too: an alert must not wait for it.
      return reading && !isAway ? 'wait' : null
    },
  }
}

export interface VisibleDeps {
  /** the channels that a person can see; null: Slack does not say */
  seenBy: Memberships['seenBy']
}

/**
 * Which channels an answer may name: the one where the person asks, and those that the person can see. What a private
 * channel follows is for its members only. If Slack does not say who can see what, other channels are left out.
 */
export async function visibleTo(
  { seenBy }: VisibleDeps,
  { user, channel }: Pick<Requester, 'user' | 'channel'>,
): Promise<(one: ChannelId) => boolean> {
  const seen = await seenBy(user)
  return (one) => one === channel || (seen?.has(one) ?? false)
}
