import type { Memberships } from '../../notify/slack/memberships.ts'
import type { FindDeps } from '../find-build.ts'
import type { SubscriptionDeps } from '../subscription/deps.ts'
import type { Connections } from './connections.ts'

export interface HomeDeps extends SubscriptionDeps, Pick<FindDeps, 'interfaces'> {
  /** the channels that a person is in */
  channelsOf: Memberships['channelsOf']
  connections: Pick<Connections, 'all'>
}
