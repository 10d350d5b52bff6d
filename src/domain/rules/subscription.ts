import { isRepositoryId, repositoryOf, sourceOf, type ChannelId, type SourceName, type Uuid } from '../ids.ts'
import { coversBranch, matchBranch, patternMode } from './pattern.ts'
import { DETAILS, type Details } from '../builds/failure.ts'
import type { ReminderRule } from '../builds/reminder.ts'
import type { ChannelRule } from './rule.ts'

/** A channel follows one project, or all of them. */
export interface Subscription {
  channel: ChannelId
  /** a project by full name, name, uuid or legacy id; `all`; `unfollowed`: projects that no other channel follows */
  follows: Follows
  /** the channel's own rules; null: the project's own rules in CI */
  rules: readonly ChannelRule[] | null
  /** replies are not also sent to the channel */
  quiet: boolean
  /** whether a failed build's committer is mentioned, if somebody has claimed that handle */
  mention: 'committer' | 'nobody'
  /** how much of what failed is shown; left out: `lines` */
  details?: Details
  /** when the channel gets reminders of red branches that nobody is on; left out: never */
  remind?: ReminderRule
  /** where it was made, which is also where it can be changed */
  source: 'default-channel' | 'file' | 'slack'
  /** only of subscriptions made in Slack */
  id?: string
  /** a Slack user */
  createdBy?: string
  /** ms since the epoch */
  createdAt?: number
  /** since when Slack refuses posts in the channel (ms); left out: it does not */
  closedAt?: number
  /** the channel gets these builds while they cannot be posted in this one, which made the subscription */
  insteadOf?: ChannelId
}

/**
 * `uuid` and `projectId` are those known when it was made. They still match if the project is renamed in CI. `projectId`
 * may also be a repository of GitHub: then all its workflows are meant. `sources`: only a project of one of these is meant;
 * left out: of any. `ids`: the projects and repositories that were known by the name when it was last looked up.
 */
export type Follows = OneProject | { what: 'all' } | { what: 'unfollowed' }

interface OneProject {
  what: 'project'
  name: string
  uuid?: Uuid | null
  projectId?: string | null
  sources?: readonly SourceName[]
  ids?: readonly string[]
}

/** All names and ids of one project. */
export interface ProjectNames {
  projectId: string
  projectUuid: string | null
  names: readonly (string | null)[]
  /** its known branches, the newest first; empty or left out: none is known */
  branches?: readonly string[]
}

/**
 * The subscriptions that follow this project. The default channel's counts only if no other channel's counts: one whose
 * channel can be posted in, and that covers a known branch. Where nothing can be posted, the default channel gets those
 * subscriptions as well. Within a channel, subscriptions to this project replace those to all projects.
 */
export function following(subscriptions: readonly Subscription[], project: ProjectNames): Subscription[] {
  const candidates = subscriptions.filter(({ follows }) => follows.what !== 'project' || isNamed(follows, project))
  const nearest = candidates.filter(({ channel, follows }) =>
    candidates.every((other) => other.channel !== channel || nearness(other.follows) <= nearness(follows)),
  )
  const isFollowed = nearest.some((one) => one.follows.what !== 'unfollowed' && counts(one, project.branches))
  const own = candidates.filter((one) => (one.follows.what === 'unfollowed' ? !isFollowed : nearest.includes(one)))
  const substitute = candidates.find(({ follows, closedAt }) => follows.what === 'unfollowed' && !closedAt)?.channel
  const closed = substitute === undefined ? [] : own.filter(({ closedAt }) => closedAt)
  return [...own, ...closed.map((one) => ({ ...one, channel: substitute!, insteadOf: one.channel }))]
}

/**
 * The least that any of these subscriptions shows of what failed; undefined: all of them show everything. If one asks for
 * less, that counts for the whole channel.
 */
export const leastDetails = (subscriptions: readonly Pick<Subscription, 'details'>[]): Details | undefined =>
  DETAILS.find((one) => subscriptions.some(({ details }) => details === one))

/** Whether it can deliver builds of a project with these branches. */
export const counts = ({ closedAt, rules }: Subscription, branches: readonly string[] = []): boolean =>
  !closedAt && (branches.length === 0 || coversAny(rules, branches))

/** Whether these rules cover one of these branches, or every branch. The project's own rules do. */
export const coversAny = (rules: Subscription['rules'], branches: readonly string[]): boolean =>
  !rules?.length || rules.some((rule) => !rule.branch || looked(rule, branches).some((one) => covers(rule, one)))

const covers = ({ branch, branchMatch }: ChannelRule, one: string): boolean =>
  coversBranch(matchBranch(branch, branchMatch, one))

/** A regex is matched with this many branches only, the newest: each takes time. */
const REGEX_BRANCHES_MAX = 50

const looked = ({ branch, branchMatch }: ChannelRule, branches: readonly string[]): readonly string[] =>
  patternMode(branch ?? '', branchMatch) === 'regex' ? branches.slice(0, REGEX_BRANCHES_MAX) : branches

const nearness = (follows: Follows): number =>
  follows.what === 'project' && isRepositoryId(follows.projectId) ? NEARNESS.repository : NEARNESS[follows.what]

const NEARNESS = { project: 3, repository: 2, all: 1, unfollowed: 0 } as const

/** If both sides have ids, the ids decide: a name can pass from one project to another. */
function isNamed(follows: OneProject, { projectId, projectUuid, names }: ProjectNames): boolean {
  if (follows.sources && !follows.sources.includes(sourceOf(projectId))) return false
  if (follows.ids?.some((id) => id === projectId || id === repositoryOf(projectId))) return true
  const ids = [
    [follows.uuid?.toLowerCase(), projectUuid?.toLowerCase()],
    [follows.projectId, isRepositoryId(follows.projectId) ? (repositoryOf(projectId) ?? projectId) : projectId],
  ].filter(([kept, own]) => kept && own)
  if (ids.length > 0) return ids.some(([kept, own]) => kept === own)
  // A uuid without an id belongs to a CI service project: another source's project of the same name does not match.
  if (follows.uuid && sourceOf(projectId) !== 'ci') return false
  const wanted = nameKey(follows.name)
  return [projectId, projectUuid, ...names].some((name) => name !== null && name.toLowerCase() === wanted)
}

/** Equal for two ways to write the same name. */
export const nameKey = (name: string): string => name.trim().toLowerCase()

/**
 * A key that two subscriptions of a channel share if and only if the later one replaces the earlier one: they are for
 * the same project (by uuid, else by id, else by name) or for all, and for the same branches, however they are written.
 */
export const subscriptionSlot = (follows: Follows, rules: readonly ChannelRule[] | null): string =>
  JSON.stringify([...followedKey(follows), ...branchKeys(rules ?? [])])

function followedKey(follows: Follows): [what: string, key: string] {
  if (follows.what !== 'project') return [follows.what, '']
  if (follows.uuid) return ['uuid', follows.uuid.toLowerCase()]
  return follows.projectId ? ['id', follows.projectId] : ['name', nameKey(follows.name)]
}

/** Empty if any rule is for every branch: the other rules' branches add nothing. */
function branchKeys(rules: readonly ChannelRule[]): string[] {
  const keys = rules.map(branchKey)
  return keys.includes(EVERY_BRANCH) ? [] : [...new Set(keys)].sort()
}

const EVERY_BRANCH = ''

function branchKey({ branch, branchMatch }: ChannelRule): string {
  if (branch === null || branch === '') return EVERY_BRANCH
  const mode = patternMode(branch, branchMatch)
  if (mode !== 'wildcard') return `${mode}:${branch}`
  const pattern = branch.replaceAll(/\*+/g, '*')
  if (pattern === '*') return EVERY_BRANCH
  return `${pattern.includes('*') ? mode : 'exact'}:${pattern}`
}
