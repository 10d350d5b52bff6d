import type { ChannelId } from '../../domain/ids.ts'
import { isProjectRequest, type ProjectRequest } from '../../domain/project-request.ts'
import type { Request } from '../../domain/request.ts'
import type { Subscription } from '../../domain/subscription.ts'
import type { ClosedChannel } from '../../store/kept.ts'
import { shownOf } from '../subscriptions/shown.ts'
import { COUNTED_MAX, type AdminState, type AuditLine, type PausedChannel, type Some } from './outcomes.ts'
import type { HomeDeps } from './deps.ts'

export const DELIVERIES_SHOWN_MAX = 15
export const PAUSED_SHOWN_MAX = 10
/** What a paused channel would be told of is named so far. */
export const FOLLOWS_SHOWN_MAX = 3
export const AUDIT_SHOWN_MAX = 10

/** What admins see besides. @param channels those that this admin is in; null: not known */
export async function readAdmin(
  deps: HomeDeps,
  all: readonly Subscription[],
  channels: ReadonlySet<ChannelId> | null,
): Promise<AdminState> {
  const { read } = deps.store
  const [deliveries, requests] = await Promise.all([
    read.lastDeliveries(COUNTED_MAX),
    read.newestRequests(AUDIT_SHOWN_MAX),
  ])
  return {
    connections: deps.connections.all(),
    deliveries: someOf(deliveries, DELIVERIES_SHOWN_MAX),
    paused: await readPaused(deps, all, channels),
    audit: requests.map(auditLine),
  }
}

const someOf = <One>(all: readonly One[], max: number): Some<One> => ({
  shown: all.slice(0, max),
  more: Math.max(0, all.length - max),
})

async function readPaused(
  deps: HomeDeps,
  all: readonly Subscription[],
  channels: ReadonlySet<ChannelId> | null,
): Promise<Some<PausedChannel>> {
  const closed = await deps.store.read.closedChannels()
  const concerned = closed.filter(({ channel }) => all.some((one) => one.channel === channel)).slice(0, COUNTED_MAX)
  const { shown, more } = someOf(concerned, PAUSED_SHOWN_MAX)
  return { shown: await Promise.all(shown.map((one) => paused(deps, one, all, channels))), more }
}

async function paused(
  deps: HomeDeps,
  { channel, code, closedAt }: ClosedChannel,
  all: readonly Subscription[],
  channels: ReadonlySet<ChannelId> | null,
): Promise<PausedChannel> {
  const own = all.filter((one) => one.channel === channel).slice(0, FOLLOWS_SHOWN_MAX)
  return { channel, code, at: closedAt, follows: channels?.has(channel) ? await shownOf(deps, own) : null }
}

const auditLine = (request: Request | ProjectRequest): AuditLine => ({
  at: request.askedAt,
  by: request.askedBy,
  action: request.action,
  state: request.state,
  ...(isProjectRequest(request)
    ? { project: request.project, buildId: null, branch: null }
    : { project: request.target.project, buildId: request.buildId, branch: request.target.branch }),
})
