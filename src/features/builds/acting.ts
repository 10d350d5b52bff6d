import type { Action, Request } from '../../domain/cards/request.ts'
import type { LegacyBuild } from '../../domain/ci-project/project.ts'
import type { ActionTarget, RestartResult, Source } from '../../sources/source.ts'
import type { Reads } from '../../store/store.ts'
import { endedBuild, restartedBuild } from './results.ts'

/** How each action finds its build, calls the build's source, and is looked up there. */
export const ACTING: Record<Action, Acting> = {
  stop: {
    finds: 'running',
    async call(source, actedOn) {
      await source.stop!(actedOn)
      return NO_NEW_BUILD
    },
    lookUp: endedBuild,
  },
  restart: { finds: 'newest', call: (source, actedOn) => source.restart!(actedOn), lookUp: restartedBuild },
}

interface Acting {
  /** which build of a branch people mean by it */
  finds: 'running' | 'newest'
  call: (source: Source, actedOn: ActionTarget) => Promise<RestartResult>
  /** The build that shows the result, among those that the source shows now. */
  lookUp: (read: Reads, request: Request, builds: readonly LegacyBuild[]) => Promise<LegacyBuild | undefined>
}

export const NO_NEW_BUILD: RestartResult = { newBuildId: null, newBuildUuid: null }
