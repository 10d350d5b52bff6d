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

/** The subscriptions that follow this project; the default channel counts only where no other channel does. */
export function following(subscriptions: readonly Subscription[], project: ProjectNames): Subscription[] {
  const named = subscriptions.filter(({ follows }) => follows.what === 'all' || isNamed(follows, project))
  return subscriptions.filter(
    (subscription) =>
      named.includes(subscription) ||
      (subscription.follows.what === 'unfollowed' && named.every(({ channel }) => channel === subscription.channel)),
  )
}

function isNamed(follows: Subscription['follows'], { projectId, projectUuid, names }: ProjectNames): boolean {
  if (follows.what !== 'project') return false
  const wanted = follows.name.trim().toLowerCase()
  return [projectId, projectUuid, ...names].some((name) => name !== null && name.toLowerCase() === wanted)
}
