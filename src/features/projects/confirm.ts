import type { Project } from '../../domain/ci-project/project.ts'
import {
  CALLING_MAX_MS,
  GIVE_UP_MS,
  isOpen,
  isProjectRequest,
  type ProjectRequest,
  type RequestChange,
  type RequestEvent,
} from '../../domain/cards/request.ts'
import { checkDueRequests, LOOK_LATER_MS, recordEvent } from '../../projects/requests.ts'
import { sendPatiently } from '../../slack/api/send-text.ts'
import { endLine, lookedUpLine } from './messages.ts'
import { lookAtChanged, toBeAnnounced } from './record.ts'
import type { ProjectDeps } from './outcomes.ts'
import { cacheProject } from './read.ts'

/**
 * Looks up writes to projects with an unknown outcome in CI's v2 interface, and notifies the people who requested them.
 * See `checkDueRequests`.
 */
export const confirmProjectRequests = (deps: ProjectDeps): Promise<void> =>
  checkDueRequests(deps, deps.store.read.projectRequestsToCheck, async (request) => {
    // The feature `run` looks up runs.
    if (request.action === 'run') return
    await (isOpen(request) ? confirm(deps, request) : announceEnd(deps, request.interactionKey))
  })

async function confirm(deps: ProjectDeps, request: ProjectRequest): Promise<void> {
  const now = deps.clock.now()
  const seen = await lookUp(deps, request)
  if (seen.kind === 'shown') return record(deps, request, { kind: 'shown', code: null }, seen.made)
  // CI may still be working on the request.
  const isEarly = now < request.requestedAt + CALLING_MAX_MS
  if (seen.kind === 'not-shown' && !isEarly) return record(deps, request, { kind: 'not-shown', code: 'not-shown' })
  const mayShowLater = seen.kind === 'not-shown' || (seen.kind === 'away' && now < request.requestedAt + GIVE_UP_MS)
  if (!mayShowLater) return record(deps, request, { kind: 'not-shown', code: 'cannot-look' })
  const code = request.code ?? 'interrupted'
  await record(deps, request, { kind: 'unclear', code, lookAt: deps.clock.now() + LOOK_LATER_MS })
}

async function record(
  deps: ProjectDeps,
  request: ProjectRequest,
  event: RequestEvent,
  also: RequestChange = {},
): Promise<void> {
  const { store, clock, log, sendText } = deps
  const change = event.kind === 'unclear' ? also : { ...also, ...toBeAnnounced(deps, request) }
  const isChanged = await store.write((tx) => recordEvent(tx, request, event, { at: clock.now(), ...change }))
  const { id, action, project, requestedBy: by } = request
  if (!isChanged) return
  log.warn({ request: id, action, project, by, event: event.kind }, 'a write to CI was looked up')
  if (event.kind === 'unclear') return
  const sent = await sendText(by, lookedUpLine(request, event.kind === 'shown'))
  if (sent.kind !== 'sent')
    log.warn({ request: id, by, code: sent.code }, 'a person could not be notified of what CI shows')
  await announceEnd(deps, request.interactionKey)
}

/**
 * Tells the channel where a write was requested how it ended, in one line; once more if the process dies meanwhile. An
 * unclear write is looked up, and may end later.
 */
export async function announceEnd(deps: ProjectDeps, interactionKey: string): Promise<void> {
  const request = await deps.store.read.requestOf(interactionKey)
  if (!request || !isProjectRequest(request) || isOpen(request)) return
  if (request.channel === null || request.lookAt === null) return
  const sent = await sendPatiently(deps, request.channel, endLine(request))
  if (sent.kind !== 'sent')
    deps.log.warn({ request: request.id, code: sent.code }, 'the end of a write could not be announced in its channel')
  const now = deps.clock.now()
  const isTriedAgain = UNSENT.has(sent.kind) && now < request.requestedAt + ANNOUNCED_MAX_MS
  await deps.store.write((tx) => tx.updateRequest(request.id, { lookAt: isTriedAgain ? now + LOOK_LATER_MS : null }))
}

/** Slack has certainly not shown it, and may do so later. */
const UNSENT: ReadonlySet<string> = new Set(['rate-limited', 'unsent', 'workspace-closed'])
/** After this time, nobody waits for the line any more. */
const ANNOUNCED_MAX_MS = 60 * 60_000

type WriteLookUp =
  | { kind: 'shown'; made: Pick<RequestChange, 'projectUuid'> }
  /** `blind`: CI cannot show the outcome */
  | { kind: 'not-shown' | 'away' | 'blind' }

async function lookUp(deps: ProjectDeps, request: ProjectRequest): Promise<WriteLookUp> {
  const { action, projectUuid, before } = request
  if (action === 'create-project') return lookUpCreated(deps, request)
  if (projectUuid === null || Object.keys(before).length === 0) return { kind: 'blind' }
  const seen = await lookAtChanged(deps, projectUuid, before)
  return seen.kind === 'shown' ? { kind: 'shown', made: {} } : seen
}

/** CI's `created_at` may be this far behind our clock (ms). */
const CREATED_AT_OFF_MS = 5 * 60_000

async function lookUpCreated(deps: ProjectDeps, { project: name, requestedAt }: ProjectRequest): Promise<WriteLookUp> {
  if (!deps.ci) return { kind: 'blind' }
  const listed = await listLike(deps.ci, name)
  if (!listed) return { kind: 'away' }
  const isNew = (at: unknown) => typeof at === 'string' && Date.parse(at) >= requestedAt - CREATED_AT_OFF_MS
  const made = listed.find((one) => isLike(one, name) && isNew(one.raw['created_at']))
  if (!made) return { kind: 'not-shown' }
  await cacheProject(deps, made)
  return { kind: 'shown', made: { projectUuid: made.uuid } }
}

/** CI may list `acme/web` under a longer path, which a search by name does not find: then all projects are read. */
async function listLike(ci: NonNullable<ProjectDeps['ci']>, name: string): Promise<readonly Project[] | null> {
  try {
    const named = await ci.listProjects({ name })
    return named.projects.length > 0 ? named.projects : (await ci.listProjects()).projects
  } catch {
    return null
  }
}

const isLike = (project: Project, name: string): boolean => project.name === name || project.name.endsWith(`/${name}`)
