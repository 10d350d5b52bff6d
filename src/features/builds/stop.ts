import { act } from './act.ts'
import type { ActOutcome, Asker, Target } from '../../catalog/outcomes.ts'
import type { ActDeps } from './deed.ts'

/** Asks CI to stop a running build (interface, E1). At most one call for one run; see `act`. */
export const stopBuild = (deps: ActDeps, target: Target, by: Asker): Promise<ActOutcome> =>
  act(
    deps,
    {
      action: 'stop',
      async call(_, { projectUuid, buildUuid }) {
        await deps.v2!.stopBuild({ projectUuid: projectUuid!, buildUuid: buildUuid! })
        return { newBuildId: null, newBuildUuid: null }
      },
    },
    target,
    by,
  )
