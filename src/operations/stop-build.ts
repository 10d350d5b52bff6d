import { facilitiesOf } from '../store/history.ts'
import { act } from './act.ts'
import type { ActOutcome, Asker, Target } from './asked.ts'
import { troubleOf } from './ci-trouble.ts'
import type { Found } from './find-build.ts'
import type { ActDeps, Ids } from './deed.ts'

/** Asks CI to stop a running build (interface, E1). At most one call for one run; see `act`. */
export const stopBuild = (deps: ActDeps, target: Target, by: Asker): Promise<ActOutcome> =>
  act(
    deps,
    {
      action: 'stop',
      prepare: (found) => uuidsOf(deps, found),
      async call(_, { projectUuid, buildUuid, organizationUuid }) {
        await deps.v2!.stopBuild({ projectUuid: projectUuid!, buildUuid: buildUuid!, organizationUuid })
        return { newBuildId: null, newBuildUuid: null }
      },
    },
    target,
    by,
  )

/**
 * Stopping needs uuids where deliveries carry integers: from the delivery itself or the build's address (both are in the
 * details), else through the legacy project, which has both.
 */
async function uuidsOf(deps: ActDeps, { run, runs }: Found) {
  const { project } = await facilitiesOf(deps.store.read, runs, deps.interfaces)
  const { organizationUuid, buildUuid } = run.details
  const projectUuid = run.details.projectUuid ?? project?.uuid ?? null
  if (buildUuid !== null && projectUuid !== null) return ids({ projectUuid, buildUuid, organizationUuid })
  if (!deps.legacy) return { kind: 'impossible', offer: 'no-build-uuid' } as const
  try {
    const branch = run.facts.findLast((fact) => fact.branch !== null)?.branch
    const legacy = await deps.legacy.getProject(run.facts[0]!.projectId, branch ? { branch } : {})
    const found = buildUuid ?? legacy.builds.find(({ id }) => id === run.buildId)?.uuid ?? null
    const owner = projectUuid ?? legacy.uuid
    if (found === null || owner === null) return { kind: 'impossible', offer: 'no-build-uuid' } as const
    return ids({ projectUuid: owner, buildUuid: found, organizationUuid })
  } catch (error) {
    return troubleOf(error)
  }
}

const ids = (found: Omit<Ids, 'kind'>): Ids => ({ kind: 'ids', ...found })
