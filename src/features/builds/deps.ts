import type { Answered, Source, Sources } from '../../sources/source.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { Uuid } from '../../domain/ids.ts'
import type { RequestDeps } from '../../catalog/requests.ts'
import type { Action, AttemptRef } from '../../domain/request.ts'

export interface ActDeps extends RequestDeps {
  wake: (revisionKey: string) => void
  sources: Sources
  v2: Pick<ClientV2, 'listProjects'> | null
}

/** How one action calls CI. */
export interface CiCall {
  action: Action
  /** Calls CI once. Throws a CiError. */
  call(source: Source, ref: AttemptRef, ids: Ids): Promise<Answered>
}

export interface Ids {
  kind: 'ids'
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  hasFailed: boolean
  /** true: CI lists the build under this project and branch; false: only deliveries say so */
  isConfirmed: boolean
}
