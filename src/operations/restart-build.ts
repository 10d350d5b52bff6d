import { facilitiesOf } from '../store/history.ts'
import { act } from './act.ts'
import type { ActOutcome, Asker, Target } from './asked.ts'
import type { ActDeps } from './deed.ts'

/** Asks CI to run a finished build of a Basic project again (interface, E9). At most one call for one run; see `act`. */
export const restartBuild = (deps: ActDeps, target: Target, by: Asker): Promise<ActOutcome> =>
  act(
    deps,
    {
      action: 'restart',
      async prepare({ run, runs }) {
        const { project } = await facilitiesOf(deps.store.read, runs, deps.interfaces)
        const { buildUuid, organizationUuid } = run.details
        return {
          kind: 'ids',
          projectUuid: run.details.projectUuid ?? project?.uuid ?? null,
          buildUuid,
          organizationUuid,
        }
      },
      async call({ buildId }, { buildUuid }) {
        const { id, uuid } = await deps.legacy!.restartBuild(buildId)
        const isSame = id === null && uuid !== null && uuid === buildUuid
        return { newBuildId: isSame ? buildId : id, newBuildUuid: uuid }
      },
    },
    target,
    by,
  )
