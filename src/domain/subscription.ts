import { sourceOf, type ChannelId, type Uuid } from './ids.ts'
import { patternMode } from './pattern.ts'
import type { ReminderRule } from './reminder.ts'
import type { ChannelRule } from './rule.ts'

/** A channel follows a project, or all of them. */
export interface Subscription {
  channel: ChannelId
  /** a project by full name, name, uuid or legacy id; `all`; `unfollowed`: those that no other channel follows */
  follows: Follows
  /** the channel's own rules; null: the project's, as CI holds them */
  rules: readonly ChannelRule[] | null
  /** replies are not also sent to the channel */
  quiet: boolean
  /** whether a failed build's committer is mentioned, if that handle is claimed */
  mention: 'committer' | 'nobody'
  /** when the channel is reminded of red branches that nobody is on; left out: never */
  remind?: ReminderRule
  /** where it was made: it is changed there */
  source: 'default-channel' | 'file' | 'slack'
  /** of those made in Slack */
  id?: string
  /** a Slack user */
  createdBy?: string
  /** ms since the epoch */
  createdAt?: number
}

/** `uuid` and `projectId` are what was known when it was made: they hold where CI renames the project. */
export type Follows =
  | { what: 'project'; name: string; uuid?: Uuid | null; projectId?: string | null }
  | { what: 'all' }
  | { what: 'unfollowed' }

/** The names one project goes by. */
export interface ProjectNames {
  projectId: string
  projectUuid: string | null
  names: readonly (string | null)[]
}

/**
 * The subscriptions that follow this project. The default channel counts only where no other channel does; and in one
 * channel what is said of the project by name counts instead of what is said of all.
 */
export function following(subscriptions: readonly Subscription[], project: ProjectNames): Subscription[] {
  const candidates = subscriptions.filter(({ follows }) => follows.what !== 'project' || isNamed(follows, project))
  return candidates.filter(({ channel, follows }) => {
    const others = candidates.filter((other) => other.channel !== channel && other.follows.what !== 'unfollowed')
    if (follows.what === 'unfollowed' && others.length > 0) return false
    return candidates.every(
      (other) => other.channel !== channel || NEARNESS[other.follows.what] <= NEARNESS[follows.what],
    )
  })
}

const NEARNESS = { project: 2, all: 1, unfollowed: 0 } as const

/** Ids say more than names: a name can pass from one project to another. */
function isNamed(follows: Follows, { projectId, projectUuid, names }: ProjectNames): boolean {
  if (follows.what !== 'project') return false
  const ids = [
    [follows.uuid?.toLowerCase(), projectUuid?.toLowerCase()],
    [follows.projectId, projectId],
  ].filter(([kept, own]) => kept && own)
  if (ids.length > 0) return ids.some(([kept, own]) => kept === own)
  // Of a project of the CI service the uuid may be all that is known: another source's is another one.
  if (follows.uuid && sourceOf(projectId) !== 'ci') return false
  const wanted = nameKey(follows.name)
  return [projectId, projectUuid, ...names].some((name) => name !== null && name.toLowerCase() === wanted)
}

const nameKey = (name: string): string => name.trim().toLowerCase()

/**
 * A text that two subscriptions of a channel have in common exactly if the later one takes the place of the earlier: the
 * same project (by uuid, else by id, else by name) or all, and the same branches, in whatever words.
 */
export const subscriptionSlot = (follows: Follows, rules: readonly ChannelRule[] | null): string =>
  JSON.stringify([...followedKey(follows), ...branchKeys(rules ?? [])])

function followedKey(follows: Follows): [what: string, key: string] {
  if (follows.what !== 'project') return [follows.what, '']
  if (follows.uuid) return ['uuid', follows.uuid.toLowerCase()]
  return follows.projectId ? ['id', follows.projectId] : ['name', nameKey(follows.name)]
}

/** None where any rule is for every branch: the others add nothing to it. */
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
