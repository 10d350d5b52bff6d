import type { FindDeps } from '../find-build.ts'
import type { SubscribeDeps } from '../subscription/deps.ts'
import type { Connections } from './connections.ts'

export interface HomeDeps extends SubscribeDeps, Pick<FindDeps, 'interfaces'> {
  connections: Pick<Connections, 'all'>
}
