import type { Project } from '../../domain/ci-project/project.ts'
import {
  beforeRecord,
  end,
  recordForProject,
  repeatedRequest,
  retryLookUp,
  type LookUpResult,
} from '../../projects/requests.ts'
import { differencesOf, topOf, type Difference } from '../../domain/ci-project/project-change.ts'
import type { ProjectRequest } from '../../domain/cards/request.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import { invariant } from '../../lib/assert.ts'
import { type Requester, type CiFailure, ciFailureOf } from '../../projects/outcomes.ts'
import type { NotSent, ProjectDeps, SentInVain } from './outcomes.ts'
import { beforeCall, callForProject, endAnnounced, endUnclear } from './record.ts'
import { refusalToAdminister, cacheProject } from './read.ts'
import { checkCreation, type ProjectCreation } from '../../sources/ci-service/check-creation.ts'
import { repositoryPath } from '../../sources/ci-service/wire.ts'
import { fieldsThat, projectField } from '../../domain/ci-project/project-fields.ts'
import { unknownNotifiers } from '../../sources/ci-service/check-rule.ts'

export type CreationPreview = { kind: 'free' } | { kind: 'exists'; project: ProjectRef } | NotSent

export type CreateOutcome =
  | { kind: 'created'; project: ProjectRef; otherwise: readonly Difference[] }
  /** a project of that name exists, and the requester did not confirm a second one */
  | { kind: 'exists'; project: ProjectRef }
  | NotSent
  | SentInVain

interface Ready {
  kind: 'ready'
  request: ProjectRequest
  /** the uuids of the projects that already had that name */
  earlier: ReadonlySet<string>
}

/**
 * Creates a project with one call. Before it, looks for a project of that name; after an unclear call, for a new one.
 * Throws NotAttempted if it fails before CI is asked to create anything.
 */
export async function createProject(
  deps: ProjectDeps,
  creation: ProjectCreation,
  by: Requester,
  evenIfThere: boolean,
): Promise<CreateOutcome> {
  const ready = await beforeRecord(makeReady(deps, creation, by, evenIfThere))
  if (ready.kind !== 'ready') return ready
  const taken = evenIfThere ? null : await endIfThere(deps, ready.request, creation)
  if (taken) return taken
  return send(deps, ready, creation)
}

/** Checks again, since another request may have taken the name before our record. Null: the name is still free. */
async function endIfThere(
  deps: ProjectDeps,
  request: ProjectRequest,
  creation: ProjectCreation,
): Promise<CreateOutcome | null> {
  const again = findNamed(deps, creation.repository_url)
  const found = await beforeCall(deps, request, again, 'it could not be looked for again')
  const outcome = found.kind === 'projects' ? existing(found.projects) : found
  if (outcome) await end(deps, request, { kind: 'refused', code: outcome.kind })
  return outcome
}

/** Null if there is no such project. */
const existing = ([one]: readonly Project[]): Extract<CreateOutcome, { kind: 'exists' }> | null =>
  one ? { kind: 'exists', project: refOf(one) } : null

/** Whether a project of that name exists already; creates nothing. */
export async function previewCreation(
  deps: ProjectDeps,
  creation: ProjectCreation,
  by: Requester,
): Promise<CreationPreview> {
  const found = await checkFirst(deps, creation, by)
  return found.kind === 'projects' ? (existing(found.projects) ?? { kind: 'free' }) : found
}

/** The projects of that name, unless the creation cannot be sent anyway. */
async function checkFirst(deps: ProjectDeps, creation: ProjectCreation, by: Requester): Promise<Named | NotSent> {
  const refusal = await refusalToAdminister(deps, by)
  if (refusal) return refusal
  if (!deps.ci) return { kind: 'no-v2' }
  const faults = checkCreation(creation)
  return faults.length > 0 ? { kind: 'faults', faults } : findNamed(deps, creation.repository_url)
}

async function makeReady(
  deps: ProjectDeps,
  creation: ProjectCreation,
  by: Requester,
  evenIfThere: boolean,
): Promise<Ready | CreateOutcome> {
  const found = await checkFirst(deps, creation, by)
  if (found.kind !== 'projects') return found
  const obstacle = (await repeatedRequest(deps, by)) ?? (evenIfThere ? null : existing(found.projects))
  if (obstacle) return obstacle
  const [project] = namesInUrl(creation.repository_url)
  const what = Object.keys(creation)
  const recorded = await recordForProject(
    deps,
    { action: 'create-project', project, projectUuid: null, what, before: {} },
    by,
  )
  if (recorded.kind !== 'recorded') return recorded
  const earlier = new Set<string>(found.projects.map(({ uuid }) => uuid))
  return { kind: 'ready', request: recorded.request, earlier }
}

async function send(deps: ProjectDeps, { request, earlier }: Ready, creation: ProjectCreation): Promise<CreateOutcome> {
  const { ci } = deps
  invariant(ci, 'what was asked about can be written')
  const called = await callForProject(deps, request, () => ci.createProject(creation))
  if (called.kind === 'ci-refused')
    return { ...called, unknownNotifiers: unknownNotifiers(called.reason, creation.notification_rules ?? []) }
  if (called.kind === 'answered') return finish(deps, request, creation, called.answer)
  const seen = await retryLookUp(deps, () => findCreated(deps, creation, earlier))
  if (seen.kind !== 'shown') return endUnclear(deps, request, called.code, seen.kind)
  return finish(deps, request, creation, seen.done)
}

async function findCreated(
  deps: ProjectDeps,
  { repository_url: repositoryUrl }: ProjectCreation,
  earlier: ReadonlySet<string>,
): Promise<LookUpResult<Project>> {
  const there = await findNamed(deps, repositoryUrl)
  if (there.kind === 'ci-trouble') return { kind: 'away' }
  const made = there.projects.find(({ uuid }) => !earlier.has(uuid))
  return made ? { kind: 'shown', done: made } : { kind: 'not-shown' }
}

interface Named {
  kind: 'projects'
  projects: readonly Project[]
}

async function findNamed({ ci }: ProjectDeps, repositoryUrl: string): Promise<Named | CiFailure> {
  const found: Project[] = []
  try {
    for (const name of namesInUrl(repositoryUrl)) {
      const { projects = [] } = (await ci?.listProjects({ name })) ?? {}
      found.push(...projects.filter((project) => project.name === name))
    }
    return { kind: 'projects', projects: found }
  } catch (error) {
    return ciFailureOf(error)
  }
}

async function finish(
  deps: ProjectDeps,
  request: ProjectRequest,
  creation: ProjectCreation,
  made: Project,
): Promise<CreateOutcome> {
  const otherwise = otherwiseThan(creation, made)
  const code = otherwise.length > 0 ? 'otherwise' : null
  await endAnnounced(deps, request, { kind: 'shown', code }, { projectUuid: made.uuid })
  await cacheProject(deps, made).catch((error: unknown) =>
    deps.log.warn({ err: error }, 'a new project could not be stored; the next reading of the projects finds it'),
  )
  return { kind: 'created', project: refOf(made), otherwise }
}

/** Where CI's new project differs from the request. Compares only fields with the same name on both sides. */
function otherwiseThan(creation: ProjectCreation, made: Project): Difference[] {
  const requested = Object.fromEntries(Object.entries(creation).filter(([name]) => COMPARED.has(name)))
  const got = Object.fromEntries(Object.keys(requested).map((name) => [name, made.raw[name]]))
  return differencesOf({ ...requested, team_ids: creation.team_ids.map(Number) }, got).filter(
    ({ field }) => topOf(field) !== 'team_ids' || creation.team_ids.every((id) => Number.isSafeInteger(Number(id))),
  )
}

// Not rules, whose fields have other names in CI's answer, and not what only a creation sets, such as pipelines.
const COMPARED = fieldsThat((field) => field.setBy === 'update' && field !== projectField('notification_rules'))

const refOf = ({ id, uuid, name, type }: Project): ProjectRef => ({ projectId: id, uuid, name, type })

/** The names that CI may give a project of this repository. */
export function namesInUrl(repositoryUrl: string): readonly [string, ...string[]] {
  const path = repositoryPath(repositoryUrl.trim()) ?? repositoryUrl
  const short = path.split('/').slice(-2).join('/')
  return short === path ? [short] : [short, path]
}
