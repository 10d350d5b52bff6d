import { CiError } from '../../sources/http/errors.ts'
import { sourceOf } from '../../domain/ids.ts'
import type { Offer } from '../../domain/offer.ts'
import type { LegacyProject } from '../../domain/project.ts'
import type { Action } from '../../domain/request.ts'
import { buildView } from '../../domain/build-view.ts'
import type { KnownProject } from '../../store/records.ts'
import { type CiTrouble, troubleOf } from '../../catalog/outcomes.ts'
import type { ActDeps, Ids } from './deps.ts'
import type { Found } from '../../catalog/find-build.ts'

/**
 * The ids that CI is called with. Deliveries are unsigned, and what they say of ids could redirect a Stop to another build: CI
 * has to list the project under the name that people see, and, where its legacy interface shows the project's builds, this
 * build on this branch. `not-confirmed`: CI says otherwise. `isConfirmed` false: CI shows no builds of the project.
 */
export async function confirmTarget(
  deps: ActDeps,
  action: Action,
  found: Found,
): Promise<Ids | { kind: 'not-confirmed' } | { kind: 'impossible'; offer: Offer } | CiTrouble> {
  const hasFailed = found.attempt.status === 'failed'
  // The other sources prove who they are, and a build has one id there.
  if (sourceOf(projectIdOf(found.attempt)) !== 'ci')
    return { kind: 'ids', projectUuid: null, buildUuid: null, hasFailed, isConfirmed: true }
  try {
    const project = await listedProject(deps, found)
    if (!project) return { kind: 'impossible', offer: 'project-unknown' }
    if (!isSameProject(project, found)) return { kind: 'not-confirmed' }
    const listed = await listedBuild(deps, project, found)
    if (listed === 'another') return { kind: 'not-confirmed' }
    const buildUuid = listed?.uuid ?? found.attempt.details.buildUuid
    if (action === 'stop' && buildUuid === null) return { kind: 'impossible', offer: 'no-build-uuid' }
    // A restart goes by the build's number, a stop by its uuid.
    const isConfirmed = listed !== null && (action === 'restart' || listed.uuid !== null)
    return { kind: 'ids', projectUuid: project.uuid, buildUuid, hasFailed, isConfirmed }
  } catch (error) {
    return troubleOf(error)
  }
}

/** The project as CI lists it, by the list that was read last, else by asking. */
async function listedProject({ store, v2 }: ActDeps, { attempt, attempts }: Found): Promise<KnownProject | null> {
  const { project: name } = buildView(attempt, attempts)
  const { projectUuid: uuid } = attempt.details
  const known = await store.read.project({ uuid, legacyId: projectIdOf(attempt), names: [name] })
  if (known || !v2) return known
  const { projects } = await v2.listProjects({ name })
  const asked = projects.find((project) => project.name === name)
  return asked ? { ...asked, legacyId: asked.id, filter: null } : null
}

/** Does CI list under this name, uuid and number what the deliveries say? */
function isSameProject({ name, uuid, legacyId }: KnownProject, { attempt, attempts }: Found): boolean {
  const { projectUuid } = attempt.details
  const said = buildView(attempt, attempts).project.toLowerCase()
  const listed = name.toLowerCase()
  const isNamed =
    said === listed || said === `project ${legacyId}` || said.endsWith(`/${listed}`) || listed.endsWith(`/${said}`)
  return (
    isNamed &&
    (projectUuid === null || projectUuid === uuid) &&
    (legacyId === null || legacyId === projectIdOf(attempt))
  )
}

/** The build as CI lists it; null where CI cannot be asked; `another`: what CI lists is not this build. */
async function listedBuild({ sources }: ActDeps, project: KnownProject, { attempt, attempts }: Found) {
  const projectId = projectIdOf(attempt)
  const source = sources(projectId)
  if (!source?.getProject || project.type === 'pro') return null
  const { branch } = buildView(attempt, attempts)
  const { buildUuid } = attempt.details
  const wanted = { builds: [attempt.buildId], ...(branch === null ? {} : { branch }) }
  const shown = await projectOf(source.getProject(projectId, wanted))
  if (!shown) return project.type === 'basic' ? 'another' : null
  const build = shown.builds.find(({ id }) => id === attempt.buildId)
  if (!build || (shown.uuid !== null && shown.uuid !== project.uuid)) return 'another'
  const isSame =
    (branch === null || build.branch === null || build.branch === branch) &&
    (buildUuid === null || build.uuid === null || build.uuid === buildUuid)
  return isSame ? build : 'another'
}

/** Null: the legacy interface does not have it. */
const projectOf = (asked: Promise<LegacyProject>): Promise<LegacyProject | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof CiError && error.kind === 'not-found') return null
    throw error
  })

const projectIdOf = (attempt: Found['attempt']) => attempt.buildEvents[0]!.projectId
