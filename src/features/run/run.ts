import { recordLookedUp } from '../../alerts/record/record.ts'
import { type ProjectRequest, type RequestEvent } from '../../domain/cards/request.ts'
import { isProjectId, sourceOf, type BuildId, type SourceName } from '../../domain/ids.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import {
  beforeRecord,
  callCi,
  earlierRequest,
  newRecord,
  recordEvent,
  type RequestDeps,
} from '../../projects/requests.ts'
import {
  ciFailureOf,
  refusalOf,
  type CiFailure,
  type ProjectNotFound,
  type Refused,
  type Requester,
} from '../../projects/outcomes.ts'
import { findProject } from '../../projects/projects.ts'
import { CiError } from '../../sources/http/errors.ts'
import type { Sources, Starter, Startable, StartPlace, StartValue } from '../../sources/source.ts'
import { checkValues, type InputFault } from './values.ts'

export interface RunDeps extends RequestDeps {
  sources: Sources
  wake: (revisionKey: string) => void
}

/** What a person wants to start. */
export interface Wanted {
  /** as typed, or its key */
  project: string
  /** a branch or tag; null: none was named */
  ref: string | null
  values: Readonly<Record<string, string>>
}

/** What is started: the project's name and the names of the inputs that are given. */
export interface Run {
  project: string
  source: SourceName
  ref: string
  inputs: readonly string[]
}

type Offered = Extract<Startable, { kind: 'startable' }>

export type RunOutcome =
  | { kind: 'started'; run: Run; number: string; url: string | null }
  /** the source said yes, and does not show the build yet: the person gets a message */
  | { kind: 'accepted'; run: Run }
  /** the source said yes, and shows several builds that it may be */
  | { kind: 'several'; run: Run }
  /** the source may have started it: the bot looks it up, and the person gets a message */
  | { kind: 'unclear'; run: Run; code: string }
  /** the source has certainly started nothing */
  | { kind: 'ci-refused'; run: Run; code: string; reason: string | null }
  | { kind: 'asked-already'; project: string; by: string; at: number }
  /** nothing is wrong, but more has to be said; `ref`: no branch was named */
  | { kind: 'incomplete'; project: ProjectRef; offered: Offered; missing: readonly string[]; wanted: Wanted }
  | { kind: 'faults'; project: ProjectRef; offered: Offered; faults: readonly InputFault[] }
  | { kind: 'not-startable'; project: ProjectRef; why: Exclude<Startable, Offered> }
  | { kind: 'cannot-run'; project: ProjectRef; source: SourceName }
  | CiFailure
  | ProjectNotFound
  | Refused

/** Who may start builds: the one place that asks for the right. */
export const refusalToRun = ({ permits }: Pick<RunDeps, 'permits'>, by: Requester): Promise<Refused | null> =>
  refusalOf(permits, 'operate', by, 'run')

/**
 * Starts a build by hand: checks what is wanted against the file of the project, records the request, calls the source
 * once, and looks for the build that it has started. Throws NotAttempted if it fails before the source is called.
 */
export async function startRun(deps: RunDeps, wanted: Wanted, by: Requester): Promise<RunOutcome> {
  const ready = await beforeRecord(makeReady(deps, wanted, by))
  if (ready.kind !== 'ready') return ready
  const { request, run, place, starter, values } = ready
  const fields = { request: request.id, action: 'run', project: place.projectId, by: by.user }
  const called = await callCi(deps.log, fields, () => starter.start(place, values))
  const at = deps.clock.now()
  if (called.kind === 'answered') {
    const lookAt = at + LOOK_AGAIN_MS
    await end(deps, request, { kind: 'accepted', lookAt }, called.answer)
  } else await end(deps, request, called.kind === 'unclear' ? { ...called, lookAt: at + LOOK_AGAIN_MS } : called)
  if (called.kind === 'refused') return { ...called, kind: 'ci-refused', run }
  const named = called.kind === 'answered' ? called.answer : null
  const isTaken = called.kind === 'answered'
  const seen = await lookSoon(deps, { ...request, state: isTaken ? 'accepted' : 'unclear', newBuildId: named })
  if (seen.kind === 'started') return { ...seen, run }
  if (!isTaken) return { kind: 'unclear', run, code: called.code }
  return { kind: seen.kind === 'several' ? 'several' : 'accepted', run }
}

/** The job looks again at this interval. */
export const LOOK_AGAIN_MS = 15_000

interface Ready {
  kind: 'ready'
  request: ProjectRequest
  run: Run
  place: StartPlace
  starter: Starter
  values: readonly StartValue[]
}

async function makeReady(deps: RunDeps, wanted: Wanted, by: Requester): Promise<Ready | RunOutcome> {
  const refused = await refusalToRun(deps, by)
  if (refused) return refused
  const found = await findProject(deps.store.read, wanted.project)
  if (found.kind !== 'project') return found
  const { project } = found
  const { uuid, name } = project
  const source = sourceOf(project.projectId)
  const way = starterOf(deps, project.projectId)
  if (!way || !uuid) return { kind: 'cannot-run', project, source }
  const { starter, projectId } = way
  const offered = await starter.read({ projectId, project: name }, wanted.ref).catch(ciFailureOf)
  if (offered.kind === 'ci-trouble') return { ...offered, source }
  if (offered.kind !== 'startable') return { kind: 'not-startable', project, why: offered }
  const { values, faults, missing } = checkValues(offered, wanted.values)
  if (faults.length > 0) return { kind: 'faults', project, offered, faults }
  if (missing.length > 0 || wanted.ref === null) return { kind: 'incomplete', project, offered, missing, wanted }
  const run = { project: name, source, ref: offered.place.ref, inputs: values.map((one) => one.name) }
  const what = [run.ref, ...run.inputs]
  const request: ProjectRequest = {
    ...newRecord(deps, by),
    action: 'run',
    project: name,
    projectUuid: uuid,
    what,
    before: {},
  }
  const earlier = await deps.store.write(async (tx) => {
    const known = (await earlierRequest(tx, by.interactionKey)) ?? (await tx.openProjectRequest(uuid))
    if (!known) await tx.insertRequest(request)
    return known
  })
  if (earlier) return { kind: 'asked-already', project: name, by: earlier.requestedBy, at: earlier.requestedAt }
  return { kind: 'ready', request, run, place: offered.place, starter, values }
}

/** What starts builds of a project; null: nothing does. */
function starterOf({ sources }: Pick<RunDeps, 'sources'>, projectId: string | null) {
  if (projectId === null || !isProjectId(projectId)) return null
  const source = sources(projectId)
  return source?.starter ? { projectId, source, starter: source.starter } : null
}

/** Records how a request went on. If the store fails, the job looks the build up, as it does after a crash. */
export async function end(
  { store, clock, log }: Pick<RunDeps, 'store' | 'clock' | 'log'>,
  request: ProjectRequest,
  event: RequestEvent,
  newBuildId: BuildId | null = null,
): Promise<void> {
  const also = newBuildId === null ? {} : { newBuildId }
  try {
    await store.write((tx) => recordEvent(tx, request, event, { at: clock.now(), ...also }))
  } catch (error) {
    log.error({ err: error, request: request.id }, 'the end of a request could not be recorded; it is looked up later')
  }
}

/** What the source shows of a request. */
export type Seen =
  /** the build is stored with its requester, and the request has ended */
  { kind: 'started'; number: string; url: string | null } | { kind: 'several' | 'not-shown' | 'away' }

/** CI's clock may be this far behind ours. */
const CI_CLOCK_OFF_MS = 60_000

/** A source shows a new build a moment after its answer. */
const LOOK_AFTER_MS = [0, 1_000, 2_000, 4_000] as const

async function lookSoon(deps: RunDeps, request: ProjectRequest): Promise<Seen> {
  let seen: Seen = { kind: 'away' }
  for (const ms of LOOK_AFTER_MS) {
    if (ms > 0) await deps.clock.sleep(ms)
    seen = await lookForBuild(deps, request)
    if (seen.kind === 'started' || seen.kind === 'several') break
  }
  return seen
}

/**
 * Looks for the build that a request has started: by the id that the source named, else the one build that the bot's
 * account has started there since then. Two may be meant: then none is. Never rejects because of the source.
 */
export async function lookForBuild(deps: RunDeps, request: ProjectRequest): Promise<Seen> {
  const { projectUuid: uuid, project: name, what, requestedAt, newBuildId } = request
  try {
    const known = await deps.store.read.project({ uuid, legacyId: '', names: [] })
    const way = starterOf(deps, known?.legacyId ?? null)
    if (!known || !way) return { kind: 'not-shown' }
    const { projectId, source, starter } = way
    const place = { projectId, project: known.name, ref: what[0]! }
    const since = requestedAt - CI_CLOCK_OFF_MS
    const builds = newBuildId ? [newBuildId] : await starter.startedSince(place, since)
    const fresh: BuildId[] = []
    for (const id of builds) {
      const [first] = await deps.store.read.eventsOfBuild(projectId, id)
      if (newBuildId || !first || first.at >= requestedAt) fresh.push(id)
    }
    const [id, ...others] = fresh
    if (!id || others.length > 0) return await ended(deps, request, id ? 'several' : 'not-shown')
    const seen = { projectId, project: name, buildId: id, projectUuid: null, buildUuid: null, branch: null }
    const read = await source.readBuild({ ...seen, number: null, commit: null })
    if (!read?.observation) return { kind: 'not-shown' }
    const { details } = read.observation
    const observation = { ...read.observation, details: { ...details, requestedBy: request.requestedBy } }
    await recordLookedUp(deps, { observation, project: read.project }, 'delivery')
    await end(deps, request, { kind: 'shown' }, id)
    return { kind: 'started', number: details.number ?? id, url: details.buildUrl }
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    deps.log.warn({ err: error, request: request.id }, 'CI could not be asked which build a request has started')
    return { kind: 'away' }
  }
}

/** Of several builds, none is taken: the request ends without one. */
async function ended(deps: RunDeps, request: ProjectRequest, kind: 'several' | 'not-shown'): Promise<Seen> {
  if (kind === 'several') {
    const isTaken = request.state === 'accepted'
    await end(deps, request, { kind: isTaken ? 'shown' : 'not-shown', code: 'several' })
  }
  return { kind }
}
