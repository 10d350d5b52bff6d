import type { Gate, ReceivedEvent } from '../../domain/builds/build-event.ts'
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
  const read = await deps.sources(seen.projectId)!.readBuild(seen).catch(ciFailureOf)
  if (read && 'kind' in read) return { ...read, source }
  const ofBuild = found.buildEvents.filter(({ buildId }) => buildId === seen.buildId)
  if (!read || !isSameBuild(seen, ofBuild.map(namesIn), read)) return { kind: 'not-confirmed', shown: null }
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

function seenOf({ attempt, attempts }: FoundBuild): SeenBuild {
  const { project, branch, commit } = buildView(attempt, attempts)
  const { projectUuid, buildUuid, number } = attempt.details
  const { projectId } = attempt.buildEvents[0]!
  return { projectId, project, projectUuid, buildId: attempt.buildId, buildUuid, branch, number, commit }
}

/** Whether it is the build that the person saw, apart from the name of its project. @param stored its events */
function isSameBuild(seen: SeenBuild, stored: readonly Names[], { project, event }: ReadBuild): boolean {
  const isCi = sourceOf(seen.projectId) === 'ci'
  const isOfProject = isSame(project.legacyId, seen.projectId) && (!isCi || isSame(seen.projectUuid, project.uuid))
  if (!isOfProject || event === null) return isOfProject
  return (
    event.projectId === seen.projectId &&
    event.buildId === seen.buildId &&
    // GitHub and GitLab name the commit of every build. Without it, a card could be of any.
    (isCi || (seen.commit?.length ?? 0) >= COMMIT_DIGITS_MIN) &&
    [seen, ...stored].every((one) => agree(one, namesIn(event)))
  )
}

/** As few digits as GitHub shows. */
const COMMIT_DIGITS_MIN = 7

type Names = Pick<SeenBuild, 'branch' | 'number' | 'buildUuid' | 'commit'>

const namesIn = ({ branch, commitId, details: { number, buildUuid, shortCommitId } }: ReceivedEvent): Names => ({
  branch,
  number,
  buildUuid,
  commit: commitId ?? shortCommitId,
})

const agree = (one: Names, other: Names): boolean =>
  // GitHub names the pull request of a run only while it is open.
  isSame(one.branch && branchIn(one.branch), other.branch && branchIn(other.branch)) &&
  isSame(one.number, other.number) &&
  isSame(one.buildUuid, other.buildUuid) &&
  isSameCommit(one.commit, other.commit)

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
