import { isProjectId } from '../domain/ids.ts'
import type { Sources } from '../sources/source.ts'
import { CiError } from '../sources/http/errors.ts'
import { detailedSummaryOf, findBuild, type FindBuildDeps } from '../projects/find-build.ts'
import type { BuildSummary, NotFound, Target } from '../projects/outcomes.ts'
import { findProject, type FollowedDeps } from '../projects/projects.ts'
import { takesOtherName, type Refreshed } from './reading.ts'
import { recordListedBuilds, type RecordListedDeps } from './undelivered.ts'

/** An unknown name makes the bot read CI's whole list again, but at most this often: the name may be mistyped. */
const LIST_AGAIN_MS = 5_000

/** How long a command waits for ingestion of what CI showed. After that, only a later command finds it. */
const INGESTED_WITHIN_MS = 2_000
const LOOK_EVERY_MS = 20

export interface CiLookupDeps extends RecordListedDeps {
  sources: Sources
  /** reads CI's list of projects, with their builds */
  refresh: () => Promise<Refreshed>
}

type Unknown = Extract<NotFound, { kind: 'no-project' | 'no-build' | 'unknown-build' }>

const UNKNOWN: ReadonlySet<string> = new Set<Unknown['kind']>(['no-project', 'no-build', 'unknown-build'])

const isUnknown = (outcome: { kind: string }): outcome is Unknown => UNKNOWN.has(outcome.kind)

/** If the project or build is unknown, asks CI and tries once more. */
export function createCiLookup(deps: CiLookupDeps) {
  const { clock } = deps
  let listReadAt = Number.NEGATIVE_INFINITY

  /** @returns null if it is not due */
  async function readList(): Promise<number | null> {
    if (clock.now() - listReadAt < LIST_AGAIN_MS) return null
    const { builds } = await deps.refresh()
    listReadAt = clock.now()
    return builds
  }

  return async <Outcome extends { kind: string }>(answer: () => Promise<Outcome>): Promise<Outcome> => {
    const askedAt = clock.now()
    const first = await answer()
    if (!isUnknown(first)) return first
    const recorded = first.kind === 'no-build' ? await lookUpBuilds(deps, first) : await readList()
    // Nothing was read since the answer, so another one would be the same.
    if (recorded === null && listReadAt < askedAt) return first
    if (recorded) await untilIngested(deps)
    return answer()
  }
}

export type OrAskCi = ReturnType<typeof createCiLookup>

/** One build, for a choice or a modal, with as much of what failed as is shown outside channels. */
export async function findSummary(
  deps: FindBuildDeps & FollowedDeps & { orAskCi: OrAskCi },
  target: Target,
): Promise<{ kind: 'found'; build: BuildSummary } | NotFound> {
  const result = await deps.orAskCi(() => findBuild(deps, target))
  return result.kind === 'found' ? { kind: 'found', build: await detailedSummaryOf(deps, result.found, null) } : result
}

/** Waits until everything recorded is ingested, so that commands find it; at most INGESTED_WITHIN_MS. */
export async function untilIngested({ store, clock }: Pick<CiLookupDeps, 'store' | 'clock'>): Promise<void> {
  const until = clock.now() + INGESTED_WITHIN_MS
  while (clock.now() < until && (await store.read.oldestNews()) !== null) await clock.sleep(LOOK_EVERY_MS)
}

/** @returns for how many builds CI showed something new */
async function lookUpBuilds(
  deps: CiLookupDeps,
  { project: name, branch }: Extract<Unknown, { kind: 'no-build' }>,
): Promise<number> {
  const { store, clock, log, sources } = deps
  const named = await findProject(store.read, name)
  const projectId = named.kind === 'project' ? named.project.projectId : null
  if (projectId === null || !isProjectId(projectId)) return 0
  const source = sources(projectId)
  if (!source?.getProject) return 0
  const requestedAt = clock.now()
  try {
    const project = await source.getProject(projectId, branch === null ? {} : { branch })
    // It is another project, or was renamed. From now on, people find it by its current name.
    if (await takesOtherName(deps, project)) return 0
    return await recordListedBuilds(deps, { projects: [project], requestedAt, isWhole: branch === null })
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    log.warn({ err: error, project: name }, 'could not look up an unknown build in CI')
    return 0
  }
}
