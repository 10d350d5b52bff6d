import { CiError } from '../../sources/http/errors.ts'
import type { BuildEvent, Gate, ReceivedEvent } from '../../domain/builds/build-event.ts'
import { sourceOf } from '../../domain/ids.ts'
import type { MissingCapability } from '../../domain/cards/capabilities.ts'
import type { Action } from '../../domain/cards/request.ts'
import { buildView } from '../../domain/cards/view.ts'
import { branchIn } from '../../domain/builds/stream.ts'
import { type CiFailure, ciFailureOf } from '../../projects/outcomes.ts'
import type { ActionTarget, ReadBuild, SeenBuild } from '../../sources/source.ts'
import { keepProject } from '../../ci-sync/reading.ts'
import type { ActDeps } from './call-once.ts'
import type { FoundBuild } from '../../projects/find-build.ts'

/** How the source shows a build whose project has another name there; outside text. `url`: null if it gives none. */
export interface ShownAs {
  project: string
  url: string | null
}

/**
 * The build to call the source for. A sender that knows a webhook's secret can deliver anything, so the source is read
 * first, and must show the build that the person saw: the same project id and name, the same branch, number and commit.
 * Every stored event of the build must agree, since a card may have shown any of it. `not-confirmed`: it shows another
 * one, or none. `isConfirmed` false: it has no call that shows the build, or (for a stop) its uuid; only deliveries say
 * that it is this one.
 */
export async function confirmTarget(
  deps: ActDeps,
  action: Action,
  found: FoundBuild,
): Promise<
  | { kind: 'confirmed'; actedOn: ActionTarget; isConfirmed: boolean; gates: readonly Gate[] }
  | { kind: 'not-confirmed'; shown: ShownAs | null }
  | { kind: 'impossible'; why: MissingCapability }
  | CiFailure
> {
  const seen = seenOf(found)
  const source = sourceOf(seen.projectId)
  const read = await deps.sources(seen.projectId)!.readBuild(seen).catch(failureOf)
  if (read instanceof CiError) return { ...ciFailureOf(read), source }
  const ofBuild = found.buildEvents.filter(({ buildId }) => buildId === seen.buildId)
  if (!read || !isSameBuild(seen, read) || !ofBuild.every((one) => agrees(one, read.event)))
    return { kind: 'not-confirmed', shown: null }
  const { project, event } = read
  await keepProject(deps, project)
  const said = found.buildEvents.flatMap(({ details }) => details.projectName ?? details.projectFullName ?? [])
  const names = [...new Set([seen.project, ...said]), found.calledProject].filter((name) => name !== null)
  if (!names.every((name) => isSameName(source === 'ci', name, read)))
    return { kind: 'not-confirmed', shown: { project: project.name, url: event?.details.buildUrl ?? null } }
  const buildUuid = event?.details.buildUuid ?? seen.buildUuid
  // CI restarts a build by its number, and stops it by its uuid.
  const needsUuid = source === 'ci' && action === 'stop'
  if (needsUuid && buildUuid === null) return { kind: 'impossible', why: 'no-build-uuid' }
  const isConfirmed = event !== null && (!needsUuid || event.details.buildUuid !== null)
  const { projectId, buildId } = seen
  const uuids = source === 'ci' ? { projectUuid: project.uuid, buildUuid } : { projectUuid: null, buildUuid: null }
  const hasFailed = found.attempt.status === 'failed'
  const actedOn = { projectId, project: project.name, buildId, ...uuids, hasFailed }
  return { kind: 'confirmed', actedOn, isConfirmed, gates: event?.details.gates ?? [] }
}

/** Throws what is not a CiError. */
function failureOf(error: unknown): CiError {
  if (error instanceof CiError) return error
  throw error
}

function seenOf({ attempt, attempts }: FoundBuild): SeenBuild {
  const { project, branch, commit } = buildView(attempt, attempts)
  const { projectUuid, buildUuid, number } = attempt.details
  const { projectId } = attempt.buildEvents[0]!
  return { projectId, project, projectUuid, buildId: attempt.buildId, buildUuid, branch, number, commit }
}

/** Whether it is the build that the person saw, apart from the name of its project. */
function isSameBuild(seen: SeenBuild, { project, event }: ReadBuild): boolean {
  const { legacyId, uuid } = project
  const isOfProject =
    isSame(legacyId, seen.projectId) && (sourceOf(seen.projectId) !== 'ci' || isSame(seen.projectUuid, uuid))
  if (!isOfProject || event === null) return isOfProject
  const { projectId, buildId, branch, commitId, details } = event
  return (
    projectId === seen.projectId &&
    buildId === seen.buildId &&
    // GitHub names the pull request of a run only while it is open.
    isSame(branchOf(seen), branchOf({ branch })) &&
    isSame(seen.buildUuid, details.buildUuid) &&
    isSame(seen.number, details.number) &&
    // GitHub and GitLab name the commit of every build. Without it, a card could be of any.
    (sourceOf(projectId) === 'ci' || (seen.commit?.length ?? 0) >= COMMIT_DIGITS_MIN) &&
    isSameCommit(seen.commit, commitId ?? details.shortCommitId)
  )
}

/** As few digits as GitHub shows. */
const COMMIT_DIGITS_MIN = 7

/** Whether an event of the build agrees with what its source says now. */
function agrees({ branch, commitId, details }: BuildEvent, read: ReceivedEvent | null): boolean {
  if (read === null) return true
  return (
    isSame(branchOf({ branch }), branchOf(read)) &&
    isSame(details.number, read.details.number) &&
    isSame(details.buildUuid, read.details.buildUuid) &&
    isSameCommit(commitId ?? details.shortCommitId, read.commitId ?? read.details.shortCommitId)
  )
}

const branchOf = ({ branch }: Pick<SeenBuild, 'branch'>): string | null => branch && branchIn(branch)

/** A missing value agrees with any. */
const isSame = (one: string | null, other: string | null): boolean => one === null || other === null || one === other

/** People see only the first digits. */
function isSameCommit(seen: string | null, read: string | null): boolean {
  if (seen === null || read === null) return true
  const [short, long] = [seen.toLowerCase(), read.toLowerCase()].sort((a, b) => a.length - b.length)
  return long!.startsWith(short!)
}

/** Ignores case. The CI service's interfaces may leave out the owner, or have only the number. */
function isSameName(isCi: boolean, seen: string, { project: { name, legacyId } }: ReadBuild): boolean {
  const [own, read] = [seen.toLowerCase(), name.toLowerCase()]
  if (own === read) return true
  return isCi && (own === `project ${legacyId}` || own.endsWith(`/${read}`) || read.endsWith(`/${own}`))
}
