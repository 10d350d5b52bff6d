import type { ClientLegacy } from '../../sources/ci-service/client-legacy.ts'
import { CiError } from '../../sources/ci-service/errors.ts'
import type { Request } from '../../domain/request.ts'
import { toStatus } from '../../domain/status.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/store.ts'
import { insertPolled } from '../../catalog/ci-snapshot.ts'

export interface RefreshBuild {
  store: Store
  clock: Clock
  log: Log
  wake: (revisionKey: string) => void
  legacy: Pick<ClientLegacy, 'getProject'> | null
}

/** Asks CI how a build stands, where the legacy interface tells, and takes it in. Never rejects: it is an extra. */
export async function refreshBuild(deps: RefreshBuild, request: Request): Promise<void> {
  const { store, clock, log, wake, legacy } = deps
  try {
    const { branch } = request.target
    const project = await legacy?.getProject(request.projectId, branch === null ? {} : { branch })
    const build = project?.builds.find(({ id }) => id === request.buildId)
    // No word at all would only hide the one that we know.
    if (!build || toStatus(build.status) === 'unknown') return
    const at = clock.now()
    await store.write(async (tx) => {
      await insertPolled(tx, request, { build, begunAgain: false, at })
      await tx.wakeRevision(request.revisionKey, at, 0)
    })
    wake(request.revisionKey)
  } catch (error) {
    // A Pro project is not there.
    if (error instanceof CiError && error.kind === 'not-found') return
    log.warn({ err: error, request: request.id }, 'CI could not be asked how a build stands')
  }
}
