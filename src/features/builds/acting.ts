import type { Action, Request } from '../../domain/cards/request.ts'
import type { LegacyBuild } from '../../domain/ci-project/project.ts'
import type { Right } from '../../slack/api/permission.ts'
import type { ActionTarget, Decision, RestartResult, Source } from '../../sources/source.ts'
import type { Reads } from '../../store/store.ts'
import { endedBuild, passedBuild, restartedBuild } from './results.ts'

/** Who may do each action, which build it finds, how it calls the build's source, and how it is looked up there. */
export const ACTING: Record<Action, Acting> = {
  stop: {
    right: 'operate',
    finds: 'running',
    async call(source, actedOn) {
      await source.stop!(actedOn)
      return NO_NEW_BUILD
    },
    lookUp: endedBuild,
  },
  restart: {
    right: 'operate',
    finds: 'newest',
    call: (source, actedOn) => source.restart!(actedOn),
    lookUp: restartedBuild,
  },
  approve: ofGate('approve'),
  reject: ofGate('reject'),
  play: ofGate('play'),
}

interface Acting {
  right: Right
  /** which build of a branch people mean by it */
  finds: 'running' | 'newest'
  /** @param decided left out: the action is about the whole build */
  call: (source: Source, actedOn: ActionTarget, decided?: Omit<Decision, 'action'>) => Promise<RestartResult>
  /** The build that shows the result, among those that the source shows now. */
  lookUp: (read: Reads, request: Request, builds: readonly LegacyBuild[]) => Promise<LegacyBuild | undefined>
  /** The source does not report the result, so it is looked up this long after the answer (ms). */
  looksAfterMs?: number
}

function ofGate(action: Decision['action']): Acting {
  return {
    right: 'approve',
    finds: 'newest',
    async call(source, actedOn, decided) {
      await source.decide!(actedOn, { action, ...decided! })
      return NO_NEW_BUILD
    },
    lookUp: passedBuild,
    looksAfterMs: 1_000,
  }
}

export const NO_NEW_BUILD: RestartResult = { newBuildId: null, newBuildUuid: null }
