import type { CiRules } from '../domain/decide.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { ProjectRef } from '../domain/project-names.ts'
import type { ChannelRule } from '../domain/rule.ts'
import { following, type ProjectNames, type Subscription } from '../domain/subscription.ts'
import type { ClosedChannel } from '../store/records.ts'
import type { Reads, Store } from '../store/store.ts'
import { deliveredById, namesOf } from './delivered.ts'
import { findProject, followedKeys, projectsAs } from './projects.ts'

/** A subscription with its project and rules, and whether its channel is paused. */
export interface ShownSubscription {
  subscription: Subscription
  /** null: the subscription is for all projects, or its project is not known (any more) */
  project: ProjectRef | null
  /** the channel's own rules, or the project's as last read from CI; null: not read yet, or each project has its own */
  rules: readonly ChannelRule[] | null
  rulesFrom: 'ci' | 'channel' | 'file'
  /** set while Slack refuses posts to the channel: Slack's error code, and since when (ms) */
  paused: { code: string; at: number } | null
}

export interface ShownDeps {
  store: Store
  rulesOf: (project: ProjectNames) => Promise<CiRules | 'wait'>
}

/** Adds to each subscription its project, the rules that apply now, and whether its channel is paused. */
export async function shownOf(
  { store, rulesOf }: ShownDeps,
  subscriptions: readonly Subscription[],
): Promise<ShownSubscription[]> {
  const keys = subscriptions.flatMap(followedKeys)
  const [named, closed] = await Promise.all([namedAs(store.read, keys), store.read.closedChannels()])
  return Promise.all(
    subscriptions.map(async (subscription): Promise<ShownSubscription> => {
      const { rules: own, source, channel } = subscription
      const about = named.find((one) => namesProject(subscription, one))
      const ciRules = own === null && about ? await rulesOf(about.names) : null
      return {
        subscription,
        project: about?.project ?? null,
        rules: own ?? (ciRules === 'wait' ? null : ciRules),
        rulesFrom: own === null ? 'ci' : source === 'file' ? 'file' : 'channel',
        paused: pausedIn(closed, channel),
      }
    }),
  )
}

export function pausedIn(closed: readonly ClosedChannel[], channel: ChannelId): ShownSubscription['paused'] {
  const found = closed.find((one) => one.channel === channel)
  return found ? { code: found.code, at: found.closedAt } : null
}

/** A project with the names that its build events use. */
export interface Named {
  project: ProjectRef
  names: ProjectNames
}

async function namedAs(reads: Reads, keys: readonly string[]): Promise<Named[]> {
  return withNames(reads, await projectsAs(reads, keys))
}

/** The one project that a text names, as `findProject` finds it, with the names that its build events use. */
export async function findNamed(reads: Reads, text: string) {
  const found = await findProject(reads, text)
  if (found.kind !== 'project') return found
  const [named] = await withNames(reads, [found.project])
  return { ...found, names: named!.names }
}

// The names from deliveries, which decisions use too. If no delivery has named the project, those from CI's list.
async function withNames(reads: Reads, projects: readonly ProjectRef[]): Promise<Named[]> {
  const byId = await deliveredById(
    reads,
    projects.flatMap(({ projectId }) => projectId ?? []),
  )
  return projects.map((project) => {
    const { projectId, uuid, name } = project
    const delivered = byId.get(projectId ?? '')
    const listed = { projectId: projectId ?? '', projectUuid: uuid, names: [name] }
    return { project, names: delivered ? namesOf(delivered) : listed }
  })
}

/** Does this subscription name this project? A subscription to all projects does not. Ids from CI's list count too. */
export function namesProject(subscription: Subscription, { project, names }: Named): boolean {
  if (subscription.follows.what !== 'project') return false
  const listed = {
    projectId: project.projectId ?? '',
    projectUuid: project.uuid,
    names: [...names.names, project.name],
  }
  return following([subscription], listed).length > 0
}
