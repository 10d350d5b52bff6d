import { act } from './act.ts'
import type { ActOutcome, Asker, Target } from '../../catalog/outcomes.ts'
import type { ActDeps } from './deed.ts'

/** Asks CI to run a finished build of a Basic project again (interface, E9). At most one call for one run; see `act`. */
export const restartBuild = (deps: ActDeps, target: Target, by: Asker): Promise<ActOutcome> =>
  act(
    deps,
    {
      action: 'restart',
      async call({ buildId }, { buildUuid }) {
        const { id, uuid } = await deps.legacy!.restartBuild(buildId)
        const isSame = id === null && uuid !== null && uuid === buildUuid
        return { newBuildId: isSame ? buildId : id, newBuildUuid: uuid }
      },
    },
    target,
    by,
  )
