import type { CiRules } from '../domain/rules/decide.ts'
import { isRepositoryId, repositoryOf, sourceOf, type ChannelId } from '../domain/ids.ts'
import { namedExactly, repositoryIn, type ProjectRef } from '../domain/ci-project/project-names.ts'
import type { ChannelRule } from '../domain/rules/rule.ts'
import { following, nameKey, type ProjectNames, type Subscription } from '../domain/rules/subscription.ts'
import type { ClosedChannel } from '../store/records.ts'
import type { Reads, Store } from '../store/store.ts'
import { deliveredById, namesOf } from './followers.ts'
import { CHOICES_MAX } from '../slack/messages/ids.ts'
import { findProject, followedKeys, projectsAs, searchProjects } from './projects.ts'

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
  const named = await withNames(store.read, await projectsAs(store.read, keys))
  const closed = await store.read.closedChannels()
  return Promise.all(
    subscriptions.map(async (subscription): Promise<ShownSubscription> => {
      const { rules: own, source, channel } = subscription
      const about = named.find((one) => hasProject(subscription, one))
      const whole = about ? wholeOf(subscription, about.project) : null
      const ciRules = own === null && about ? await rulesOf(about.names) : null
      return {
        subscription: whole ? { ...subscription, follows: { what: 'project', ...whole } } : subscription,
        project: whole ?? about?.project ?? null,
        rules: own ?? (ciRules === 'wait' ? null : ciRules),
        rulesFrom: own === null ? 'ci' : source === 'file' ? 'file' : 'channel',
        paused: pausedIn(closed, channel),
      }
    }),
  )
}

/** The repository that a subscription follows as a whole, as one of its workflows calls it now. */
const wholeOf = ({ follows }: Subscription, { name }: ProjectRef): ProjectRef | null =>
  follows.what === 'project' && isRepositoryId(follows.projectId) ? repositoryRef(follows.projectId, name) : null

/** The repository of a workflow, as a project that has all its workflows; null: it is not a workflow of GitHub. */
export function wholeRepository({ projectId, name }: Pick<ProjectRef, 'projectId' | 'name'>): ProjectRef | null {
  const id = repositoryOf(projectId ?? '')
  return id === null ? null : repositoryRef(id, name)
}

/** A repository of GitHub as a project: one that has all its workflows. @param workflow the name of any of them */
const repositoryRef = (id: string, workflow: string): ProjectRef => ({
  projectId: id,
  uuid: null,
  name: repositoryIn(workflow),
  type: null,
})

/** The repositories of GitHub that a text names by id, by name, or by the last part of the name. */
async function repositoriesAs(reads: Reads, text: string): Promise<ProjectRef[]> {
  const wanted = nameKey(text)
  const workflows = isRepositoryId(wanted)
    ? await projectsAs(reads, [wanted])
    : await searchProjects(
        reads,
        wanted.includes('/') ? { text: `${wanted} `, at: 'begin' } : { text: `/${wanted} `, at: 'anywhere' },
      )
  const named = workflows.flatMap((workflow) => wholeRepository(workflow) ?? [])
  const isMeant = ({ projectId, name }: ProjectRef) =>
    projectId === wanted || name.toLowerCase() === wanted || name.toLowerCase().endsWith(`/${wanted}`)
  return [...new Map(named.filter(isMeant).map((one) => [one.projectId, one])).values()]
}

/** Like `findNamed`, but the name of a GitHub repository means the repository with all its workflows. */
export async function findFollowed(reads: Reads, text: string): ReturnType<typeof findNamed> {
  const wanted = nameKey(text)
  const isWholeName = wanted.includes('/') || isRepositoryId(wanted)
  const part = isWholeName ? null : await findNamed(reads, text)
  // What no project's name contains, no repository's does.
  if (part?.kind === 'no-project') return part
  const [whole, ...others] = await repositoriesAs(reads, text)
  if (!whole) return part ?? findNamed(reads, text)
  const called = namedExactly(await projectsAs(reads, [wanted]), wanted)
  const exact = called.length === 1 ? called.filter(({ name }) => name.toLowerCase() === wanted) : []
  if (others.length === 0 && exact.length === 0)
    return {
      kind: 'project',
      project: whole,
      names: { projectId: whole.projectId!, projectUuid: null, names: [whole.name] },
    }
  const projects = [whole, ...others, ...exact]
  const shown = projects.slice(0, CHOICES_MAX)
  return { kind: 'several-projects', text, projects: shown, more: projects.length - shown.length }
}

export function pausedIn(closed: readonly ClosedChannel[], channel: ChannelId): ShownSubscription['paused'] {
  const found = closed.find((one) => one.channel === channel)
  return found ? { code: found.code, at: found.closedAt } : null
}

export interface Named {
  project: ProjectRef
  names: ProjectNames
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

/** Whether this subscription names this project itself, and not its repository or all projects. */
export const namesProject = (subscription: Subscription, named: Named): boolean =>
  hasProject(subscription, named) && isWhole(subscription, named.project) === isRepositoryId(named.project.projectId)

/** Whether it is to this project's whole repository. An entry of the file has only the name. */
function isWhole({ follows }: Subscription, { projectId, name }: ProjectRef): boolean {
  if (follows.what !== 'project' || sourceOf(projectId) !== 'github') return false
  return follows.projectId ? isRepositoryId(follows.projectId) : nameKey(follows.name) === nameKey(repositoryIn(name))
}

/** Whether it names this project or its repository. Ids from CI's list count too. */
function hasProject(subscription: Subscription, { project, names }: Named): boolean {
  if (subscription.follows.what !== 'project') return false
  const listed = {
    projectId: project.projectId ?? '',
    projectUuid: project.uuid,
    names: [...names.names, project.name],
  }
  return following([subscription], listed).length > 0
}
