import type { ChannelId } from './ids.ts'
import type { ChannelRule } from './rule.ts'

/** A channel follows a project, or all of them. */
export interface Subscription {
  channel: ChannelId
  /** a project by full name, name, uuid or legacy id; `all`; `unfollowed`: those that no other channel follows */
  follows: { what: 'project'; name: string } | { what: 'all' } | { what: 'unfollowed' }
  /** the channel's own rules; null: the project's, as CI holds them */
  rules: readonly ChannelRule[] | null
  /** replies are not also sent to the channel */
  quiet: boolean
  /** whether a failed build's committer is mentioned, if that handle is claimed */
  mention: 'committer' | 'nobody'
  /** where it was made: it is changed there */
  source: 'default-channel' | 'file' | 'slack'
}

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

function isNamed(follows: Subscription['follows'], { projectId, projectUuid, names }: ProjectNames): boolean {
  if (follows.what !== 'project') return false
  const wanted = follows.name.trim().toLowerCase()
  return [projectId, projectUuid, ...names].some((name) => name !== null && name.toLowerCase() === wanted)
}
