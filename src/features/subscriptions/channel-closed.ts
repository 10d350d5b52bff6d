import type { ChannelId } from '../../domain/ids.ts'
import { closeChannel } from './closings.ts'
import type { SubscriptionDeps } from './deps.ts'
import { tellClosings } from './tell-closings.ts'

/** Slack says that a channel has closed: its owners are told now, else by the job. One that nobody follows is nobody's matter. */
export async function channelClosed(deps: SubscriptionDeps, channel: ChannelId, code: string): Promise<void> {
  const inForce = await deps.subscriptions()
  if (!inForce.some((one) => one.channel === channel)) return
  await closeChannel(deps, channel, code)
  await tellClosings(deps)
}
