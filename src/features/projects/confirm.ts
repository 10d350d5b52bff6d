import { CiError } from '../../sources/ci-service/errors.ts'
import type { Project } from '../../domain/project.ts'
import type { ProjectRequest } from '../../domain/project-request.ts'
import { isOpen } from '../../domain/request.ts'
import type { RequestChange } from '../../store/kept.ts'
import { CALLING_MAX_MS } from '../builds/act.ts'
import { GIVE_UP_MS, ROUND_MAX } from '../builds/confirm.ts'
import { digestOf } from './base.ts'
import { LOOK_LATER_MS } from './call.ts'
import type { ProjectDeps } from './deps.ts'
import { keep, readAfresh, refOf } from './read.ts'

/**
 * Ends what nobody has ended: a write that a dead process left while it called CI, and one whose end CI could not be asked
 * about. CI is looked at, never asked to do it again.
 */
export async function confirmProjectRequests(deps: ProjectDeps): Promise<void> {
  const now = deps.clock.now()
  // On a database of our own, what another process was calling died with it.
  const until = deps.store.shared ? now : now + CALLING_MAX_MS
  for (const request of await deps.store.read.projectRequestsToLookAt(until, ROUND_MAX)) {
    try {
      await lookAfter(deps, request, now)
    } catch (error) {
      deps.log.warn({ err: error, request: request.id }, 'a request could not be looked after; it will be tried again')
    }
  }
}

async function lookAfter(deps: ProjectDeps, request: ProjectRequest, now: number): Promise<void> {
  const isDue = (request.lookAt ?? 0) <= now
  const isDead = request.state === 'calling' && !deps.store.shared && request.claimedBy !== deps.processId
  if (!isDue && !isDead) return
  const seen = await look(deps, request)
  if (seen.kind === 'shown') return change(deps, request, { state: 'confirmed', code: null, ...seen.made })
  // What CI was sent may still be on its way through it.
  const isEarly = now < request.askedAt + CALLING_MAX_MS
  if (seen.kind === 'not-shown' && !isEarly) return change(deps, request, { state: 'unconfirmed', code: 'not-shown' })
  const mayShowLater = seen.kind === 'not-shown' || (seen.kind === 'away' && now < request.askedAt + GIVE_UP_MS)
  if (mayShowLater)
    return change(deps, request, { state: 'unclear', code: request.code ?? 'interrupted', lookAt: now + LOOK_LATER_MS })
  await change(deps, request, { state: 'unconfirmed', code: 'cannot-look' })
}

/** Unless somebody has ended it meanwhile: whoever called may be alive. */
async function change(deps: ProjectDeps, request: ProjectRequest, to: RequestChange): Promise<void> {
  const at = deps.clock.now()
  const isOver = to.state !== 'unclear'
  const ended: RequestChange = { answeredAt: at, lookAt: null, endedAt: isOver ? at : null, ...to }
  const isChanged = await deps.store.write(async (tx) => {
    const stands = await tx.projectRequestOf(request.askKey)
    if (!stands || !isOpen(stands) || stands.state !== request.state) return false
    await tx.updateRequest(request.id, ended)
    return true
  })
  const { id, action, project, askedBy: by } = request
  if (isChanged) deps.log.warn({ request: id, action, project, by, ...to }, 'a write to CI was looked up')
}

type Looked =
  | { kind: 'shown'; made: Pick<RequestChange, 'projectUuid'> }
  /** `blind`: CI does not show what it would be known by */
  | { kind: 'not-shown' | 'away' | 'blind' }

function look(deps: ProjectDeps, request: ProjectRequest): Promise<Looked> {
  return request.action === 'create-project' ? lookForCreated(deps, request) : lookAtChanged(deps, request)
}

async function lookAtChanged(deps: ProjectDeps, { projectUuid, before }: ProjectRequest): Promise<Looked> {
  if (projectUuid === null || Object.keys(before).length === 0) return { kind: 'blind' }
  const read = await readAfresh(deps, await refOf(deps, projectUuid))
  if (read.kind !== 'read') return { kind: 'away' }
  const { raw } = read.project
  const isChanged = Object.entries(before).some(
    ([name, digest]) => digestOf(name, raw[name], deps.digestKey) !== digest,
  )
  return isChanged ? { kind: 'shown', made: {} } : { kind: 'not-shown' }
}

/** CI's clock and ours may differ by so much. */
const CLOCKS_APART_MS = 5 * 60_000

async function lookForCreated(deps: ProjectDeps, { project: name, askedAt }: ProjectRequest): Promise<Looked> {
  if (!deps.ci) return { kind: 'blind' }
  const listed = await listLike(deps.ci, name)
  if (!listed) return { kind: 'away' }
  const isNew = (at: unknown) => typeof at === 'string' && Date.parse(at) >= askedAt - CLOCKS_APART_MS
  const made = listed.find((one) => isLike(one, name) && isNew(one.raw['created_at']))
  if (!made) return { kind: 'not-shown' }
  await keep(deps, made)
  return { kind: 'shown', made: { projectUuid: made.uuid } }
}

/** CI may call `acme/web` by a longer path, which no search by name finds: then all are looked through. */
async function listLike(ci: NonNullable<ProjectDeps['ci']>, name: string): Promise<readonly Project[] | null> {
  try {
    const named = await ci.listProjects({ name }).catch(orNone)
    return named.projects.length > 0 ? named.projects : (await ci.listProjects()).projects
  } catch {
    return null
  }
}

// Some services answer 404 when no project has the name.
function orNone(error: unknown): { projects: Project[] } {
  if (error instanceof CiError && error.kind === 'not-found') return { projects: [] }
  throw error
}

const isLike = (project: Project, name: string): boolean => project.name === name || project.name.endsWith(`/${name}`)
