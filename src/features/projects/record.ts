import type { ProjectRequest, RequestChange, RequestEvent } from '../../domain/cards/request.ts'
import type { Uuid } from '../../domain/ids.ts'
import type { Project } from '../../domain/ci-project/project.ts'
import { NotAttempted } from '../../store/not-attempted.ts'
import { callCi, end, LOOK_LATER_MS, type CallResult, type LookUpResult } from '../../projects/requests.ts'
import { fieldDigest, readAfresh, refOf } from './read.ts'
import type { SentInVain, ProjectDeps } from './outcomes.ts'

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
  const called = await callCi(deps.log, request, call)
  if (called.kind !== 'refused') return called
  await endAnnounced(deps, request, called)
  return { ...called, kind: 'ci-refused', project: request.project }
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
