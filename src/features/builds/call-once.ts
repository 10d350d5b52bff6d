import { certainlyUndone, CiError } from '../../sources/ci-service/errors.ts'
import type { BuildId } from '../../domain/ids.ts'
import { CONFIRM_WITHIN_MS, isOpen, type Action, type Request, type RequestState } from '../../domain/request.ts'
import { troubleOf } from '../../catalog/ci-trouble.ts'
import type { ActDeps, Answered, Deed, Ids } from './deed.ts'
import { refreshBuild } from './refresh-build.ts'
import { linkRestart } from './link-restart.ts'

/** How soon CI is looked at after an answer that left it unclear what happened. */
const UNCLEAR_LOOK_MS = 5_000

type CallOutcome =
  | { kind: 'requested'; action: Action; newBuildId: BuildId | null }
  | { kind: 'ci-refused'; action: Action; code: string; reason: string | null }
  | { kind: 'unclear'; action: Action; code: string }

/**
 * Calls CI one time for a request that is recorded, and records what came of it. An answer that cannot be recorded is looked
 * up later, like that of a process that died.
 */
export async function callOnce(deps: ActDeps, deed: Deed, request: Request, ids: Ids): Promise<CallOutcome> {
  const { action } = deed
  const answer = await askCi(deps, deed, request, ids)
  const { state, newBuildId, reason } = answer
  const code = answer.code ?? 'fault'
  try {
    await recordAnswer(deps, request, answer)
  } catch (error) {
    deps.log.error({ err: error, request: request.id }, "CI's answer could not be recorded; CI is looked at instead")
    return { kind: 'unclear', action, code }
  }
  if (state === 'accepted') return { kind: 'requested', action, newBuildId }
  if (state === 'unclear') return { kind: 'unclear', action, code }
  // CI sees the build otherwise than we do: a delivery was lost, or is on its way.
  if (code === 'bad-request' || code === 'not-found') await refreshBuild(deps, request)
  return { kind: 'ci-refused', action, code, reason }
}

interface Answer extends Answered {
  state: Extract<RequestState, 'accepted' | 'refused' | 'unclear'>
  code: string | null
  reason: string | null
}

/** The one call, and what is known after it. */
async function askCi({ log }: ActDeps, { action, call }: Deed, request: Request, ids: Ids): Promise<Answer> {
  const { id, projectId: project, buildId: build, askedBy: by } = request
  const fields = { request: id, action, project, build, by }
  try {
    const answered = await call(request, ids)
    log.info({ ...fields, newBuild: answered.newBuildId }, 'CI took the request')
    return { state: 'accepted', code: null, reason: null, ...answered }
  } catch (error) {
    const isUndone = certainlyUndone(error)
    log.warn({ ...fields, err: error }, isUndone ? 'CI refused the request' : 'unclear whether CI took the request')
    // What is no answer of CI's is a fault of ours after the call may have gone out.
    const { code, reason } = error instanceof CiError ? troubleOf(error) : { code: 'fault', reason: null }
    return { state: isUndone ? 'refused' : 'unclear', code, reason, newBuildId: null, newBuildUuid: null }
  }
}

async function recordAnswer({ store, clock, wake }: ActDeps, request: Request, answer: Answer): Promise<void> {
  const now = clock.now()
  await store.write(async (tx) => {
    await tx.intakeOf(request.revisionKey)
    const stands = await tx.requestOf(request.askKey)
    const { newBuildId, newBuildUuid } = answer
    // Whoever took us for dead has called it unclear, and we know better. What has ended since then has ended.
    const isStillOpen = stands !== null && isOpen(stands)
    const change = isStillOpen ? { ...answer, ...afterAnswer(request, answer, now) } : { newBuildId, newBuildUuid }
    await tx.updateRequest(request.id, { ...change, answeredAt: now })
    if (answer.state === 'accepted' && request.action === 'restart') await linkRestart(tx, request, answer, now)
    await tx.wakeRevision(request.revisionKey, now, 0)
  })
  wake(request.revisionKey)
}

function afterAnswer({ askedAt }: Request, { state }: Answer, now: number): Pick<Request, 'lookAt' | 'endedAt'> {
  switch (state) {
    case 'accepted':
      return { lookAt: askedAt + CONFIRM_WITHIN_MS, endedAt: null }
    case 'unclear':
      return { lookAt: now + UNCLEAR_LOOK_MS, endedAt: null }
    case 'refused':
      return { lookAt: null, endedAt: now }
  }
}
