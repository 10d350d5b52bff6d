import type { FindDeps } from '../../catalog/find-build.ts'
import type { SubscribeDeps } from '../subscriptions/deps.ts'
import type { Connections } from '../../sources/ci-service/connections.ts'

export interface HomeDeps extends SubscribeDeps, Pick<FindDeps, 'interfaces'> {
  connections: Pick<Connections, 'all'>
}
