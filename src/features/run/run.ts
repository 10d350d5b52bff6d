import { recordLookedUp } from '../../alerts/record/record.ts'
import type { ProjectRequest } from '../../domain/cards/request.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import { isProjectId, sourceOf, type BuildId, type SourceName } from '../../domain/ids.ts'
import {
  ciFailureOf,
  refusalOf,
  type CiFailure,
  type ProjectNotFound,
  type Refused,
  type Requester,
} from '../../projects/outcomes.ts'
import { findProject } from '../../projects/projects.ts'
import {
  beforeRecord,
  callCi,
  CI_CLOCK_OFF_MS,
  end,
  LOOK_LATER_MS,
  recordForProject,
  retryLookUp,
  type LookUpResult,
  type RequestDeps,
} from '../../projects/requests.ts'
import type { SendText } from '../../slack/api/send-text.ts'
import { CiError } from '../../sources/http/errors.ts'
import type { Sources, Starter, Startable, StartPlace, StartValue, StartInput } from '../../sources/source.ts'

export interface RunDeps extends RequestDeps {
  sources: Sources
  sendText: SendText
}

/** What was started. `inputs`: the names of those that were given. */
export interface Run {
  project: string
  source: SourceName
  ref: string
  inputs: readonly string[]
}

/** The build that a run has started. */
export interface Started {
  number: string
  url: string | null
}

export type RunOutcome =
  /** the source said yes, or shows it; `build`: null: the source does not show it yet, and the person gets a message */
  | { kind: 'started'; run: Run; build: Started | null }
  /** the source may have started it: the bot looks for it, and the person gets a message */
  | { kind: 'unclear'; run: Run; code: string }
  /** the source has certainly started nothing */
  | { kind: 'ci-refused'; run: Run; code: string; reason: string | null }
  | { kind: 'asked-already'; project: string; by: string; at: number }
  | { kind: 'faults'; project: ProjectRef; wanted: Wanted; offered: Offered; faults: readonly InputFault[] }
  | { kind: 'not-startable'; project: string; why: Exclude<Startable, Offered> }
  /** its source starts nothing, or is not configured */
  | { kind: 'cannot-run'; project: string; source: SourceName }
  | CiFailure
  | ProjectNotFound
  | Refused

type Offered = Extract<Startable, { kind: 'startable' }>

/**
 * Starts a build by hand: checks what is wanted against the project's file, records the request, calls the source once,
 * and looks for the build that it has started. Throws NotAttempted if it fails before the source is called.
 */
export async function startRun(deps: RunDeps, wanted: Wanted, by: Requester): Promise<RunOutcome> {
  const ready = await beforeRecord(makeReady(deps, wanted, by))
  if (ready.kind !== 'ready') return ready
  const { request, run, start } = ready
  const called = await callCi(deps.log, request, start)
  if (called.kind === 'refused') {
    await end(deps, request, called)
    return { ...called, kind: 'ci-refused', run }
  }
  const lookAt = deps.clock.now() + LOOK_LATER_MS
  const isTaken = called.kind === 'answered'
  const newBuildId = isTaken ? called.answer : null
  await end(deps, request, isTaken ? { kind: 'accepted', lookAt } : { ...called, lookAt }, { newBuildId })
  const now: ProjectRequest = { ...request, state: isTaken ? 'accepted' : 'unclear', newBuildId }
  const seen = await retryLookUp(deps, () => lookForBuild(deps, now))
  const build = seen.kind === 'shown' ? seen.done : null
  return isTaken || build !== null ? { kind: 'started', run, build } : { kind: 'unclear', run, code: called.code }
}

interface Ready {
  kind: 'ready'
  request: ProjectRequest
  run: Run
  start: () => Promise<BuildId | null>
}

async function makeReady(deps: RunDeps, wanted: Wanted, by: Requester): Promise<Ready | RunOutcome> {
  // The one place that asks for the right to start builds.
  const refused = await refusalOf(deps.permits, 'approve', by, 'run')
  if (refused) return refused
  const found = await findProject(deps.store.read, wanted.project)
  if (found.kind !== 'project') return found
  const { uuid, name: project, projectId } = found.project
  const source = sourceOf(projectId)
  const way = starterOf(deps, projectId)
  if (!way || !uuid) return { kind: 'cannot-run', project, source }
  const { starter } = way
  const offered = await starter.read({ projectId: way.projectId, project }, wanted.ref).catch(ciFailureOf)
  if (offered.kind === 'ci-trouble') return { ...offered, source }
  if (offered.kind !== 'startable') return { kind: 'not-startable', project, why: offered }
  const { values, faults } = checkValues(offered, wanted)
  if (faults.length > 0) return { kind: 'faults', project: found.project, wanted, offered, faults }
  const inputs = values.map(({ name }) => name)
  const run = { project, source, ref: offered.place.ref, inputs }
  const what = [run.ref, ...inputs]
  const recorded = await recordForProject(deps, { action: 'run', project, projectUuid: uuid, what, before: {} }, by)
  if (recorded.kind !== 'recorded') return { ...recorded, project }
  return { kind: 'ready', request: recorded.request, run, start: () => starter.start(offered.place, values) }
}

/** What starts builds of a project; null: nothing does. */
function starterOf({ sources }: Pick<RunDeps, 'sources'>, projectId: string | null) {
  if (projectId === null || !isProjectId(projectId)) return null
  const source = sources(projectId)
  return source?.starter ? { projectId, source, starter: source.starter } : null
}

/**
 * Looks for the build that a request has started: by the id that the source named, else the one build that the bot's
 * account has started there since then. Stores it with its requester, and ends the request.
 */
export async function lookForBuild(deps: RunDeps, request: ProjectRequest): Promise<LookUpResult<Started>> {
  const { projectUuid: uuid, project: name, requestedBy, requestedAt, newBuildId } = request
  try {
    const known = await deps.store.read.project({ uuid, legacyId: '', names: [] })
    const way = starterOf(deps, known?.legacyId ?? null)
    if (!known || !way) return { kind: 'not-shown' }
    const { projectId, source, starter } = way
    const place = { projectId, project: known.name, ref: request.what[0]! }
    const [id, ...others] = newBuildId ? [newBuildId] : await startedFor(deps, requestedAt, place, starter)
    // Of several that may be it, none is taken.
    if (!id || others.length > 0) return { kind: 'not-shown' }
    const seen = { projectId, project: name, buildId: id, projectUuid: null, buildUuid: null }
    const read = await source.readBuild({ ...seen, branch: null, number: null, commit: null })
    if (!read?.event) return { kind: 'not-shown' }
    const { details } = read.event
    const event = { ...read.event, details: { ...details, requestedBy } }
    await recordLookedUp(deps, { event, project: read.project }, 'delivery')
    await end(deps, request, { kind: 'shown' }, { newBuildId: id })
    return { kind: 'shown', done: { number: details.number ?? id, url: details.buildUrl } }
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    deps.log.warn({ err: error, request: request.id }, 'CI could not be asked which build a request has started')
    return { kind: 'away' }
  }
}

/** The builds that may be those of a request at this time: not those that were known before it. */
async function startedFor({ store }: RunDeps, requestedAt: number, place: StartPlace, starter: Starter) {
  const fresh: BuildId[] = []
  for (const id of await starter.startedSince(place, requestedAt - CI_CLOCK_OFF_MS)) {
    const [first] = await store.read.eventsOfBuild(place.projectId, id)
    if (!first || first.at >= requestedAt) fresh.push(id)
  }
  return fresh
}

/** What a person wants to start. */
export interface Wanted {
  /** as typed, or its key */
  project: string
  /** a branch or tag; null: none was named */
  ref: string | null
  values: Readonly<Record<string, string>>
}

/** What is wrong with one value. `secret`: its name or its value looks like one. `no-branch`: none was named. */
export interface InputFault {
  name: string
  why: 'missing' | 'no-branch' | 'unknown' | 'secret' | 'choice' | 'number'
  /** the possible values, or the names that there are */
  options: readonly string[]
}

/** Nothing is wrong, but more has to be said. */
export const isIncomplete = (faults: readonly InputFault[]): boolean =>
  faults.every(({ why }) => why === 'missing' || why === 'no-branch')

/** Secrets belong to the source: what people type is kept by Slack. */
const SECRET_NAME = /pass(?:word|wd|phrase)|secret|token|credential|(?:api|access|auth|private)[-_]?key/i
const SECRET_VALUE = /-----BEGIN |\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|AKIA[A-Z\d]{12}|eyJ[\w-]+\.eyJ)/

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

/** A name that GitLab takes for a variable. */
const VARIABLE = /^[a-z_]\w{0,99}$/i

/** Compares what is wanted with the project's file. Nothing is corrected: a person has to say what they mean. */
export function checkValues(
  { inputs, takesVariables }: Offered,
  { ref, values: given }: Pick<Wanted, 'ref' | 'values'>,
): { values: StartValue[]; faults: InputFault[] } {
  const values: StartValue[] = []
  const faults: InputFault[] = ref === null ? [{ name: '', why: 'no-branch', options: [] }] : []
  for (const [name, value] of Object.entries(given)) {
    const input = inputs.find((one) => one.name === name)
    const why = isSecretName(name) || SECRET_VALUE.test(value) ? 'secret' : input && faultOf(input, value)
    if (why) faults.push({ name, why, options: input?.options ?? [] })
    else if (input) values.push({ name, value, type: input.type, isVariable: input.isVariable })
    else if (takesVariables && VARIABLE.test(name)) values.push({ name, value, type: 'text', isVariable: true })
    else faults.push({ name, why: 'unknown', options: inputs.map((one) => one.name) })
  }
  for (const { name } of inputs.filter((one) => one.isRequired && !Object.hasOwn(given, one.name)))
    faults.push({ name, why: isSecretName(name) ? 'secret' : 'missing', options: [] })
  return { values, faults }
}

function faultOf({ options, type }: StartInput, value: string): 'choice' | 'number' | null {
  if (options.length > 0 && !options.includes(value)) return 'choice'
  return type === 'number' && (value.trim() === '' || !Number.isFinite(Number(value))) ? 'number' : null
}
