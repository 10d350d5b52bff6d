import { type SubscriptionDeps, announce, openChannelFor, type Announced, type CannotPost } from './channel.ts'
import { isRepositoryId, type ChannelId } from '../../domain/ids.ts'
import { projectKey, type ProjectRef } from '../../domain/ci-project/project-names.ts'
import { CHANGES } from '../../domain/rules/rule.ts'
import type { Refused, Requester } from '../../projects/outcomes.ts'
import { searchProjects } from '../../projects/projects.ts'
import { shownOf, wholeRepository, type ShownSubscription } from '../../projects/subscriptions.ts'
import { ALL_WORKFLOWS, importedLine, subscribedLine } from '../../slack/messages/subscription.ts'
import { COMMAND_CHARS_MAX } from '../../slack/commands/parse.ts'
import type { Import } from '../kit/values.ts'
import { readGithubList, type ListedRepository } from './github-list.ts'
import {
  foresee,
  subscribeUnannounced,
  SUBSCRIPTIONS_MAX,
  type SavedSubscription,
  type Unmade,
  type Foreseen,
} from './subscribe.ts'
import type { SubscribeInput } from './subscribe-input.ts'

export interface ProposedRepository {
  listed: ListedRepository
  isKnown: boolean
  /** workflows that its filters name, and that Buildline does not know */
  unknownWorkflows: readonly string[]
  wishes: readonly Wish[]
}

/** A subscription to propose. `name`: of its project */
type Wish = Import[number] & { name: string }

export interface Proposal extends Wish {
  end: Foreseen | Exclude<Unmade, { kind: 'too-many' }>
}

export type ProposalOutcome =
  | {
      kind: 'proposed'
      proposals: readonly Proposal[]
      repositories: readonly ProposedRepository[]
      /** names that stand for all repositories of a person or an organization */
      accounts: readonly string[]
      /** further repositories, and further proposals */
      more: number
      moreProposals: number
    }
  | { kind: 'nothing-listed' }
  | { kind: 'too-long'; max: number }
  | { kind: 'no-channel' }
  | CannotPost
  | Refused

/** The outcome for one of the proposed subscriptions. */
export type Imported = SavedSubscription | Unmade

export type ImportedOutcome =
  | {
      kind: 'imported'
      subscribed: readonly ShownSubscription[]
      ends: readonly Imported[]
      /** null: nothing changed */
      announced: Announced | null
      /** the default channel, if it gets nothing about some of these any more */
      silent: ChannelId | null
    }
  | { kind: 'no-channel' }
  | CannotPost
  | Refused

/**
 * Proposes subscriptions from a list of GitHub's Slack app: `changes` of each known workflow, on the branches of the
 * list. Changes nothing.
 */
export async function proposeImport(deps: SubscriptionDeps, pasted: string, by: Requester): Promise<ProposalOutcome> {
  const place = await openChannelFor(deps, by)
  if (place.kind !== 'channel') return place
  if (pasted.length > COMMAND_CHARS_MAX) return { kind: 'too-long', max: COMMAND_CHARS_MAX }
  const list = readGithubList(pasted)
  if (list.repositories.length === 0) return { kind: 'nothing-listed' }
  const repositories: ProposedRepository[] = []
  for (const listed of list.repositories) {
    const known = await searchProjects(deps.store.read, { text: listed.name, at: 'whole' })
    repositories.push(proposedOf(listed, known))
  }
  const wished = repositories.flatMap(({ wishes }) => wishes)
  const proposals: Proposal[] = []
  // A channel cannot have more subscriptions.
  for (const one of wished.slice(0, SUBSCRIPTIONS_MAX))
    proposals.push({ ...one, end: await foresee(deps, inputOf(one), by, place.channel) })
  return {
    kind: 'proposed',
    proposals,
    repositories,
    accounts: list.accounts,
    more: list.more,
    moreProposals: wished.length - proposals.length,
  }
}

function proposedOf(listed: ListedRepository, known: readonly ProjectRef[]): ProposedRepository {
  const projects = known.filter(({ name }) => workflowIn(name, listed.name) !== null)
  const filters = listed.workflows.length > 0 ? listed.workflows : [ANY]
  const wishes = filters.flatMap((filter) => {
    const branches = branchesOf(filter)
    return wholes(projects, filter)
      .filter(({ name }) => isNamed(workflowIn(name, listed.name), filter.names))
      .flatMap((project) =>
        branches.map((branch) => ({ name: shownName(project), project: projectKey(project), branch })),
      )
  })
  const workflows = projects.map(({ name }) => workflowIn(name, listed.name))
  const unknown = filters.flatMap(({ names }) => names).filter((name) => !workflows.some((one) => isNamed(one, [name])))
  return { listed, isKnown: projects.length > 0, unknownWorkflows: [...new Set(unknown)], wishes: distinct(wishes) }
}

const shownName = ({ projectId, name }: ProjectRef): string =>
  isRepositoryId(projectId) ? `${name}${ALL_WORKFLOWS}` : name

/** Without a filter by names, a repository is meant as a whole, also with the workflows that come later. */
function wholes(projects: readonly ProjectRef[], { names }: ListedRepository['workflows'][number]): ProjectRef[] {
  if (names.length > 0) return [...projects]
  const named = projects.map((project) => wholeRepository(project) ?? project)
  return [...new Map(named.map((one) => [projectKey(one), one])).values()]
}

const ANY: ListedRepository['workflows'][number] = { names: [], events: [], branches: [], actors: [] }

/** `CI` of `acme/web CI`; empty if the project has the repository's name; null: it is of another repository. */
function workflowIn(project: string, repository: string): string | null {
  const [name, repositoryName] = [project.toLowerCase(), repository.toLowerCase()]
  if (name === repositoryName) return ''
  return name.startsWith(`${repositoryName} `) ? name.slice(repositoryName.length + 1) : null
}

/** A filter by workflow names does not leave out a project that is not a workflow. */
const isNamed = (workflow: string | null, names: readonly string[]): boolean =>
  names.length === 0 || workflow === '' || names.some((name) => name.toLowerCase() === workflow)

/** Null: any branch. For pull requests, GitHub's filter means the target branch, and any branch may be built. */
function branchesOf({ events, branches }: ListedRepository['workflows'][number]): (string | null)[] {
  const isOnPullRequests = events.length > 0 && events.every((event) => event.startsWith('pull_request'))
  return isOnPullRequests || branches.length === 0 || branches.includes('*') ? [null] : [...branches]
}

/** Removes duplicates, and the branches of projects that are wished on every branch. */
function distinct(wishes: readonly Wish[]): readonly Wish[] {
  const whole = new Set(wishes.flatMap(({ project, branch }) => (branch === null ? [project] : [])))
  const needed = wishes.filter(({ project, branch }) => branch === null || !whole.has(project))
  return [...new Map(needed.map((one) => [JSON.stringify([one.project, one.branch]), one])).values()]
}

/** Makes each proposed subscription as `/ci subscribe` does; then announces them in the channel. */
export async function importThese(deps: SubscriptionDeps, these: Import, by: Requester): Promise<ImportedOutcome> {
  const place = await openChannelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const ends: Imported[] = []
  for (const one of these) ends.push(await subscribeUnannounced(deps, inputOf(one), by, channel))
  const saved = ends.filter((end) => end.kind === 'saved')
  const subscriptions = saved.map((one) => one.saved)
  const { user } = by
  const announced = saved.length === 0 ? null : await announce(deps, { channel, text: lineOf(user, saved), user })
  return {
    kind: 'imported',
    subscribed: await shownOf(deps, subscriptions),
    ends,
    announced,
    silent: saved.find(({ silent }) => silent !== null)?.silent ?? null,
  }
}

function lineOf(user: string, saved: readonly SavedSubscription[]): string {
  const changes = saved.map((one) => ({ now: one.saved, was: one.was?.subscription ?? null }))
  const [only, ...others] = changes
  return only && others.length === 0 ? subscribedLine(user, only.now, only.was) : importedLine(user, changes)
}

const inputOf = ({ project, branch }: Import[number]): SubscribeInput => ({
  project,
  events: CHANGES,
  branch,
  branchMatch: branch === null ? null : branch.includes('*') ? 'wildcard' : 'exact',
  quiet: false,
  mention: 'committer',
})
