import {
  isOpen,
  isProjectRequest,
  type ProjectAction,
  type ProjectRequest,
  type RequestChange,
  type RequestEvent,
  type RequestRecord,
} from '../../domain/cards/request.ts'
import type { Uuid } from '../../domain/ids.ts'
import type { Project } from '../../domain/ci-project/project.ts'
import { NotAttempted } from '../../store/not-attempted.ts'
import type { Tx } from '../../store/store.ts'
import type { Requester } from '../../projects/outcomes.ts'
import {
  callCi,
  earlierRequest,
  end,
  LOOK_LATER_MS,
  newRecord,
  type CallResult,
  type LookUpResult,
} from '../../projects/requests.ts'
import { fieldDigest, readAfresh, refOf } from './read.ts'
import type { NotSent, SentInVain, ProjectDeps } from './outcomes.ts'

/** The contents of a request's record: names of fields and digests, never values. */
export interface RequestedChange {
  action: ProjectAction
  project: string
  projectUuid: Uuid | null
  what: readonly string[]
  before: Readonly<Record<string, string>>
}

export interface Recorded {
  kind: 'recorded'
  request: ProjectRequest
}

type AlreadyRequested = Extract<NotSent, { kind: 'asked-already' }>

/** The request that this interaction has already made; null: none. */
export async function repeatedRequest({ store }: ProjectDeps, by: Requester): Promise<AlreadyRequested | null> {
  const repeated = await store.read.requestOf(by.interactionKey)
  return repeated && alreadyRequested(repeated)
}

/** Records the request before the call: once per interaction, and at most one open for each project or new name. */
export async function record(
  deps: ProjectDeps,
  change: RequestedChange,
  by: Requester,
): Promise<Recorded | AlreadyRequested> {
  const request: ProjectRequest = { ...newRecord(deps, by), ...change, newBuildId: null }
  const earlier = await deps.store.write(async (tx) => {
    const known = (await earlierRequest(tx, by.interactionKey)) ?? (await openRequest(tx, change))
    if (!known) await tx.insertRequest(request)
    return known
  })
  return earlier ? alreadyRequested(earlier) : { kind: 'recorded', request }
}

/** A project that is being created has no uuid yet, so its name identifies it. */
async function openRequest(tx: Tx, { action, project, projectUuid }: RequestedChange): Promise<ProjectRequest | null> {
  if (projectUuid !== null) return tx.openProjectRequest(projectUuid)
  // No constraint of the database forbids two open creations of one name, so the name is locked.
  await tx.lockName(`create ${project}`)
  const newest = (await tx.newestRequests(LOOKED_BACK_MAX)).filter(isProjectRequest)
  return newest.find((one) => one.action === action && one.project === project && isOpen(one)) ?? null
}

/** An open request is among this many of the newest, since it is open only for minutes. */
const LOOKED_BACK_MAX = 100

const alreadyRequested = ({ requestedBy: by, requestedAt: at, state }: RequestRecord): AlreadyRequested => ({
  kind: 'asked-already',
  by,
  at,
  state,
})

/** Runs the steps between the record and the call. If they fail, the request ends, and nothing was changed. */
export const beforeCall = <Ready>(
  deps: ProjectDeps,
  request: ProjectRequest,
  work: Promise<Ready>,
  failure: string,
): Promise<Ready> =>
  work.catch(async (error: unknown) => {
    await end(deps, request, { kind: 'refused', code: 'fault' })
    throw new NotAttempted(failure, error)
  })

/** If this process dies before it has told the channel how a write ended, the job does so after this time. */
const ANNOUNCED_WITHIN_MS = 2 * 60_000

/** Records how a write that CI was asked for has ended, and that its channel is to be told. */
export const endAnnounced = (
  deps: ProjectDeps,
  request: ProjectRequest,
  event: RequestEvent,
  also: RequestChange = {},
): Promise<void> => end(deps, request, event, { ...also, ...toBeAnnounced(deps, request) })

export const toBeAnnounced = ({ clock }: ProjectDeps, { channel }: ProjectRequest): RequestChange =>
  channel === null ? {} : { lookAt: clock.now() + ANNOUNCED_WITHIN_MS }

/** Makes the one call. If CI refuses it, ends the request; otherwise the caller has to. */
export async function callForProject<Answer>(
  deps: ProjectDeps,
  request: ProjectRequest,
  call: () => Promise<Answer>,
): Promise<Exclude<CallResult<Answer>, { kind: 'refused' }> | Extract<SentInVain, { kind: 'ci-refused' }>> {
  const { id, action, project, requestedBy: by } = request
  const called = await callCi(deps.log, { request: id, action, project, by }, call)
  if (called.kind !== 'refused') return called
  await endAnnounced(deps, request, called)
  return { kind: 'ci-refused', code: called.code, reason: called.reason, project }
}

/** Whether CI shows another value in any of these fields. @param before the digests of their values before the write */
export async function lookAtChanged(
  deps: ProjectDeps,
  uuid: Uuid,
  before: ProjectRequest['before'],
): Promise<LookUpResult<Project>> {
  const read = await readAfresh(deps, await refOf(deps, uuid))
  if (read.kind !== 'read') return { kind: 'away' }
  const { raw } = read.project
  const isChanged = Object.entries(before).some(
    ([name, digest]) => fieldDigest(name, raw[name], deps.digestKey) !== digest,
  )
  return isChanged ? { kind: 'shown', done: read.project } : { kind: 'not-shown' }
}

/** The code of an unclear write to which CI answered with success. */
export const TAKEN = 'taken'

/**
 * Records that CI does not show a write. A write without an answer may still be in flight, so its request stays open
 * until that is impossible: otherwise it could overwrite somebody's next write. The job ends it.
 */
export async function endUnclear(
  deps: ProjectDeps,
  request: ProjectRequest,
  code: string,
  lookUp: 'not-shown' | 'away',
): Promise<Extract<SentInVain, { kind: 'unclear' }>> {
  const isOver = lookUp === 'not-shown' && code === TAKEN
  if (isOver) await endAnnounced(deps, request, { kind: 'not-shown', code: 'not-shown' })
  else await end(deps, request, { kind: 'unclear', code, lookAt: deps.clock.now() + LOOK_LATER_MS })
  return { kind: 'unclear', code, project: request.project, lookUp }
}
