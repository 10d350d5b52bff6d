import type { ClientLegacy } from '../../sources/ci-service/client-legacy.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { BuildId, Uuid } from '../../domain/ids.ts'
import type { Permit, Right } from '../../domain/permission.ts'
import type { Action, RunRef } from '../../domain/request.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Interfaces } from '../../store/history.ts'
import type { Store } from '../../store/store.ts'
import type { Asker } from '../../catalog/outcomes.ts'

export interface ActDeps {
  store: Store
  clock: Clock
  log: Log
  wake: (revisionKey: string) => void
  newId: () => string
  /** this process, as claims name it */
  processId: string
  interfaces: Interfaces
  v2: Pick<ClientV2, 'stopBuild' | 'listProjects'> | null
  legacy: Pick<ClientLegacy, 'restartBuild' | 'getProject'> | null
  permits: (
    right: Right,
    by: Pick<Asker, 'user' | 'team'>,
  ) => Promise<Permit | { kind: 'unknown-person'; code: string }>
}

/** What one action does at CI: the one call. */
export interface Deed {
  action: Action
  /** The one call. Throws a CiError. */
  call(ref: RunRef, ids: Ids): Promise<Answered>
}

export interface Ids {
  kind: 'ids'
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  /** CI lists the build as one of that project's, on that branch; else only its deliveries say so */
  isConfirmed: boolean
}

/** What CI answered: to a restart, the build that runs now, as far as it said. */
export interface Answered {
  newBuildId: BuildId | null
  newBuildUuid: Uuid | null
}
