import type { ReceivedEvent } from '../../domain/builds/build-event.ts'
import {
  CONFIRM_WITHIN_MS,
  GIVE_UP_MS,
  notShownCode,
  type Request,
  type RequestChange,
  type RequestEvent,
} from '../../domain/cards/request.ts'
import { checkDueRequests, recordEvent } from '../../projects/requests.ts'
import type { Tx } from '../../store/store.ts'
import { insertSnapshot } from '../../ci-sync/ci-snapshot.ts'
import { CiError } from '../../sources/http/errors.ts'
import { ACTING, ownOf } from './acting.ts'
import { shownWith, type ActDeps } from './call-once.ts'

/** The time between two looks at CI while the outcome of a request is open. */
const LOOK_AGAIN_MS = 10_000

export type ConfirmRequests = Pick<ActDeps, 'store' | 'clock' | 'log' | 'processId' | 'sources'>

/**
 * For requests that no delivery has ended, looks at CI (legacy interface, GitHub, GitLab). What CI shows is stored as a
 * build event. What CI does not show within CONFIRM_WITHIN_MS makes the request unconfirmed. See `checkDueRequests`.
 */
export const confirmRequests = (deps: ConfirmRequests): Promise<void> =>
  checkDueRequests(deps, deps.store.read.requestsToCheck, (request) =>
    request.state === 'calling' ? markOrphaned(deps, request) : confirm(deps, request),
  )

async function markOrphaned(deps: ConfirmRequests, request: Request): Promise<void> {
  const { log, clock } = deps
  log.warn({ request: request.id }, 'a request was interrupted during its call; CI is read, not called again')
  await record(deps, request, { kind: 'unclear', code: 'interrupted', lookAt: clock.now() })
}

async function confirm(deps: ConfirmRequests, request: Request): Promise<void> {
  const result = await lookUp(deps, request)
  const now = deps.clock.now()
  if (result.kind === 'shown') return recordResult(deps, request, result.build)
  const confirmBy = request.requestedAt + CONFIRM_WITHIN_MS
  const until = confirmBy + (result.kind === 'away' ? GIVE_UP_MS : 0)
  if (result.kind === 'others' || now >= until) return giveUp(deps, request, result)
  // If CI does not show the build, a delivery may do so until then.
  const lookAt = result.kind === 'blind' ? confirmBy : now + LOOK_AGAIN_MS
  await record(deps, request, { kind: 'look-later', lookAt })
}

async function giveUp(
  deps: ConfirmRequests,
  request: Request,
  result: Exclude<BuildLookUp, { kind: 'shown' }>,
): Promise<void> {
  const code = result.kind === 'not-shown' ? notShownCode(request) : result.kind === 'others' ? 'others' : 'cannot-look'
  const at = deps.clock.now()
  await record(deps, request, { kind: 'not-shown', code }, {}, async (tx) => {
    // CI shows the build unchanged. What we took for its new attempt was none, and this event corrects that.
    if (result.kind === 'others' || (request.action === 'restart' && result.kind === 'not-shown'))
      await insertSnapshot(tx, request, { build: result.own, begunAgain: false, at })
  })
}

/** CI has shown the result: stores it as an ordinary build event, and ends the request. */
async function recordResult(deps: ConfirmRequests, request: Request, build: ReceivedEvent): Promise<void> {
  const at = deps.clock.now()
  const newBuild =
    request.action === 'restart' ? { newBuildId: build.buildId, newBuildUuid: build.details.buildUuid } : {}
  await record(deps, request, { kind: 'shown' }, newBuild, (tx) =>
    insertSnapshot(tx, request, { build, begunAgain: request.action === 'restart', at }),
  )
}

/** Records the event and runs `follow` in the same transaction, unless the request has been ended meanwhile. */
async function record(
  { store, clock }: ConfirmRequests,
  request: Request,
  event: RequestEvent,
  also: RequestChange = {},
  follow: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<void> {
  await store.write(async (tx) => {
    await tx.ingestOf(request.revisionKey)
    if (!(await recordEvent(tx, request, event, { at: clock.now(), ...also }))) return
    await follow(tx)
    await tx.wakeRevision(request.revisionKey, clock.now(), 0)
  })
}

type BuildLookUp =
  /** CI shows that it happened */
  | { kind: 'shown'; build: ReceivedEvent }
  /** CI shows that it has not happened, or that somebody else has done it; `own`: the requested build as CI shows it */
  | { kind: 'not-shown' | 'others'; own: ReceivedEvent }
  /** CI did not answer */
  | { kind: 'away' }
  /** no interface can show it, or CI does not show the build */
  | { kind: 'blind' }

/** Asks CI what became of a request; changes nothing. */
async function lookUp(deps: ConfirmRequests, request: Request): Promise<BuildLookUp> {
  try {
    const { source, builds } = await shownWith(deps.sources, request)
    if (!source) return { kind: 'blind' }
    const build = await ACTING[request.action].lookUp(request, builds, source, deps.store.read)
    if (build && build !== 'others') return { kind: 'shown', build }
    // CI shows a limited number of builds, so a missing build proves nothing.
    const own = ownOf(request, builds)
    return own ? { kind: build ?? 'not-shown', own } : { kind: 'blind' }
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    deps.log.warn({ err: error, request: request.id }, 'CI could not be asked what became of a request')
    // The legacy interface does not have Pro projects: a retry would not help.
    return error.kind === 'not-found' || error.kind === 'bad-request' ? { kind: 'blind' } : { kind: 'away' }
  }
}
