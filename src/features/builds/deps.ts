import type { ClientLegacy } from '../../sources/ci-service/client-legacy.ts'
import type { GithubBuilds } from '../../sources/github/builds.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { BuildId, Uuid } from '../../domain/ids.ts'
import type { RequestDeps } from '../../catalog/requests.ts'
import type { Action, AttemptRef } from '../../domain/request.ts'

export interface ActDeps extends RequestDeps {
  wake: (revisionKey: string) => void
  v2: Pick<ClientV2, 'stopBuild' | 'listProjects'> | null
  legacy: Pick<ClientLegacy, 'restartBuild' | 'getProject'> | null
  github?: Pick<GithubBuilds, 'rerun' | 'cancel'> | null
}

/** What one action does at CI: the one call. */
export interface CiCall {
  action: Action
  /** The one call. Throws a CiError. */
  call(ref: AttemptRef, ids: Ids): Promise<Answered>
}

export interface Ids {
  kind: 'ids'
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  /** the attempt has failed: GitHub runs its failed jobs again, and not the others */
  hasFailed?: boolean
  /** CI lists the build as one of that project's, on that branch; else only its deliveries say so */
  isConfirmed: boolean
}

/** What CI answered: to a restart, the build that runs now, as far as it said. */
export interface Answered {
  newBuildId: BuildId | null
  newBuildUuid: Uuid | null
}
