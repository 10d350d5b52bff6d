import { CiError } from '../../sources/http/errors.ts'
import { sourceOf } from '../../domain/ids.ts'
import type { Offer } from '../../domain/offer.ts'
import type { LegacyProject } from '../../domain/project.ts'
import type { Action } from '../../domain/request.ts'
import { buildView } from '../../domain/build-view.ts'
import type { KnownProject } from '../../store/records.ts'
import { type CiFailure, ciFailureOf } from '../../catalog/outcomes.ts'
import type { ActionTarget } from '../../sources/source.ts'
import type { ActDeps } from './call-once.ts'
import type { FoundBuild } from '../../catalog/find-build.ts'

/**
 * The build that CI is to be called for. Deliveries are unsigned: a forged id could redirect a Stop to another build. So
 * CI must list the project under the name that people see and, if its legacy interface shows the project, this build on
 * this branch. `not-confirmed`: CI lists something else. `isConfirmed` false: CI does not show the build, or (for a
 * stop) its uuid; only deliveries say that it is this one.
 */
export async function confirmTarget(
  deps: ActDeps,
  action: Action,
  found: FoundBuild,
): Promise<
  | { kind: 'confirmed'; actedOn: ActionTarget; isConfirmed: boolean }
  | { kind: 'not-confirmed' }
  | { kind: 'impossible'; offer: Offer }
  | CiFailure
> {
  const { buildId, status, details } = found.attempt
  const about = { projectId: projectIdOf(found.attempt), buildId, hasFailed: status === 'failed' }
  // GitHub and GitLab authenticate their deliveries, and a build has only one id there.
  if (sourceOf(about.projectId) !== 'ci')
    return { kind: 'confirmed', actedOn: { ...about, projectUuid: null, buildUuid: null }, isConfirmed: true }
  try {
    const project = await listedProject(deps, found)
    if (!project) return { kind: 'impossible', offer: 'project-unknown' }
    if (!isSameProject(project, found)) return { kind: 'not-confirmed' }
    const listed = await listedBuild(deps, project, found)
    if (listed === 'another') return { kind: 'not-confirmed' }
    const buildUuid = listed?.uuid ?? details.buildUuid
    if (action === 'stop' && buildUuid === null) return { kind: 'impossible', offer: 'no-build-uuid' }
    // CI restarts a build by its number, and stops it by its uuid.
    const isConfirmed = listed !== null && (action === 'restart' || listed.uuid !== null)
    return { kind: 'confirmed', actedOn: { ...about, projectUuid: project.uuid, buildUuid }, isConfirmed }
  } catch (error) {
    return ciFailureOf(error)
  }
}

/** The project as CI lists it: from the list that was read last, else from a new request. */
async function listedProject({ store, v2 }: ActDeps, { attempt, attempts }: FoundBuild): Promise<KnownProject | null> {
  const { project: name } = buildView(attempt, attempts)
  const { projectUuid: uuid } = attempt.details
  const known = await store.read.project({ uuid, legacyId: projectIdOf(attempt), names: [name] })
  if (known || !v2) return known
  const { projects } = await v2.listProjects({ name })
  const listed = projects.find((project) => project.name === name)
  return listed ? { ...listed, legacyId: listed.id, filter: null } : null
}

/** Do the name, uuid and number that CI lists match those in the deliveries? */
function isSameProject({ name, uuid, legacyId }: KnownProject, { attempt, attempts }: FoundBuild): boolean {
  const { projectUuid } = attempt.details
  const ownName = buildView(attempt, attempts).project.toLowerCase()
  const listed = name.toLowerCase()
  const isNamed =
    ownName === listed ||
    ownName === `project ${legacyId}` ||
    ownName.endsWith(`/${listed}`) ||
    listed.endsWith(`/${ownName}`)
  return (
    isNamed &&
    (projectUuid === null || projectUuid === uuid) &&
    (legacyId === null || legacyId === projectIdOf(attempt))
  )
}

/** The build as CI lists it; null if CI does not show the project's builds; `another`: CI lists a different build. */
async function listedBuild({ sources }: ActDeps, project: KnownProject, { attempt, attempts }: FoundBuild) {
  const projectId = projectIdOf(attempt)
  const source = sources(projectId)
  if (!source?.getProject || project.type === 'pro') return null
  const { branch } = buildView(attempt, attempts)
  const { buildUuid } = attempt.details
  const query = { builds: [attempt.buildId], ...(branch === null ? {} : { branch }) }
  const shown = await projectOf(source.getProject(projectId, query))
  if (!shown) return project.type === 'basic' ? 'another' : null
  const build = shown.builds.find(({ id }) => id === attempt.buildId)
  if (!build || (shown.uuid !== null && shown.uuid !== project.uuid)) return 'another'
  const isSame =
    (branch === null || build.branch === null || build.branch === branch) &&
    (buildUuid === null || build.uuid === null || build.uuid === buildUuid)
  return isSame ? build : 'another'
}

/** Null: the legacy interface does not have the project. */
const projectOf = (listed: Promise<LegacyProject>): Promise<LegacyProject | null> =>
  listed.catch((error: unknown) => {
    if (error instanceof CiError && error.kind === 'not-found') return null
    throw error
  })

const projectIdOf = (attempt: FoundBuild['attempt']) => attempt.buildEvents[0]!.projectId
