import type { CiRules } from '../domain/decide.ts'
import type { ProjectRef } from '../domain/project-names.ts'
import type { ChannelRule } from '../domain/rule.ts'
import { following, type ProjectNames, type Subscription } from '../domain/subscription.ts'
import type { ClosedChannel, DeliveredProject } from '../store/records.ts'
import type { Reads, Store } from '../store/store.ts'
import { allProjects } from './projects.ts'

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
export async function shownOf(deps: ShownDeps, subscriptions: readonly Subscription[]): Promise<ShownSubscription[]> {
  const [named, closed] = await Promise.all([namedProjects(deps.store.read), deps.store.read.closedChannels()])
  return Promise.all(subscriptions.map((one) => shown(deps, one, { named, closed })))
}

interface Known {
  named: readonly Named[]
  closed: readonly ClosedChannel[]
}

async function shown(
  deps: ShownDeps,
  subscription: Subscription,
  { named, closed }: Known,
): Promise<ShownSubscription> {
  const about = named.find((one) => isAbout(subscription, one)) ?? null
  return {
    subscription,
    project: about && about.project,
    rules: subscription.rules ?? (about && (await ciRules(deps, about))),
    rulesFrom: subscription.rules === null ? 'ci' : subscription.source === 'file' ? 'file' : 'channel',
    paused: pausedIn(closed, subscription),
  }
}

export function pausedIn(
  closed: readonly ClosedChannel[],
  { channel }: Pick<Subscription, 'channel'>,
): ShownSubscription['paused'] {
  const found = closed.find((one) => one.channel === channel)
  return found ? { code: found.code, at: found.closedAt } : null
}

async function ciRules(deps: ShownDeps, { names }: Named): Promise<ShownSubscription['rules']> {
  const rules = await deps.rulesOf(names)
  return rules === 'wait' ? null : rules
}

/** A project with the names that its build events use. */
export interface Named {
  project: ProjectRef
  names: ProjectNames
}

export async function namedProjects(reads: Reads): Promise<Named[]> {
  const [all, delivered] = await Promise.all([allProjects(reads), reads.deliveredProjects()])
  const byId = new Map(delivered.map((one) => [one.projectId as string, one]))
  return all.map((project) => ({ project, names: namesOf(project, byId.get(project.projectId ?? '')) }))
}

// The names from deliveries, which decisions use too. If no delivery has named the project, those from CI's list.
const namesOf = ({ projectId, uuid, name }: ProjectRef, delivered: DeliveredProject | undefined): ProjectNames =>
  delivered
    ? {
        projectId: delivered.projectId,
        projectUuid: delivered.projectUuid,
        names: [delivered.name, delivered.fullName],
      }
    : { projectId: projectId ?? '', projectUuid: uuid, names: [name] }

/** Does this subscription name this project? A subscription to all projects does not. Ids from CI's list count too. */
export function isAbout(subscription: Subscription, { project, names }: Named): boolean {
  if (subscription.follows.what !== 'project') return false
  const listed = {
    projectId: project.projectId ?? '',
    projectUuid: project.uuid,
    names: [...names.names, project.name],
  }
  return following([subscription], listed).length > 0
}
