import type { Sources } from '../../sources/source.ts'
import type { LegacyBuild } from '../../domain/ci-project/project.ts'
import {
  CONFIRM_WITHIN_MS,
  GIVE_UP_MS,
  restartRequests,
  type Request,
  type RequestChange,
  type RequestEvent,
} from '../../domain/cards/request.ts'
import { checkDueRequests, recordEvent } from '../../projects/requests.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Reads, Store, Tx } from '../../store/store.ts'
import { insertSnapshot, isSameCommit, namesAttempt, eventOf, oldestFirst } from '../../ci-sync/ci-snapshot.ts'
import { CiError } from '../../sources/http/errors.ts'
import { isFinalEvent, mergeDetails, type BuildEvent } from '../../domain/builds/build-event.ts'
import { numbered } from '../../sources/attempt-number.ts'
import { idOrder, isUuid } from '../../domain/ids.ts'
import { foldBuild, hasEnded } from '../../domain/builds/attempt.ts'
import { isFinal, toStatus } from '../../domain/builds/status.ts'

/** The time between two looks at CI while the outcome of a request is open. */
const LOOK_AGAIN_MS = 10_000

export interface ConfirmRequests {
  store: Store
  clock: Clock
  log: Log
  processId: string
  sources: Sources
}

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
  const isOverdue = now >= confirmBy
  const mayKnowLater = result.kind === 'away' ? now < confirmBy + GIVE_UP_MS : !isOverdue
  if (mayKnowLater && result.kind !== 'blind')
    return record(deps, request, { kind: 'look-later', lookAt: now + LOOK_AGAIN_MS })
  // CI does not show the build, but a delivery may do so until then.
  if (!isOverdue) return record(deps, request, { kind: 'look-later', lookAt: confirmBy })
  await giveUp(deps, request, result)
}

async function giveUp(
  deps: ConfirmRequests,
  request: Request,
  result: Exclude<BuildLookUp, { kind: 'shown' }>,
): Promise<void> {
  const code =
    result.kind === 'not-shown' ? (request.action === 'stop' ? 'still-running' : 'not-restarted') : 'cannot-look'
  const at = deps.clock.now()
  await record(deps, request, { kind: 'not-shown', code }, {}, async (tx) => {
    // CI shows the build unchanged. What we took for its new attempt was none, and this event corrects that.
    if (request.action === 'restart' && result.kind === 'not-shown')
      await insertSnapshot(tx, request, { build: result.own, begunAgain: false, at })
  })
}

/** CI has shown the result: stores it as an ordinary build event, and ends the request. */
async function recordResult(deps: ConfirmRequests, request: Request, build: LegacyBuild): Promise<void> {
  const at = deps.clock.now()
  const newBuild = request.action === 'restart' ? { newBuildId: build.id, newBuildUuid: build.uuid } : {}
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

/** CI's clock may be this far behind ours. */
const CI_CLOCK_OFF_MS = 60_000

/** What CI showed of a request. */
type BuildLookUp =
  /** CI shows that it happened */
  | { kind: 'shown'; build: LegacyBuild }
  /** CI shows that it has not happened; `own`: the requested build as CI shows it */
  | { kind: 'not-shown'; own: LegacyBuild }
  /** CI did not answer */
  | { kind: 'away' }
  /** no interface can show it, or CI does not show the build */
  | { kind: 'blind' }

/** Asks CI what became of a request; changes nothing. */
async function lookUp(deps: ConfirmRequests, request: Request): Promise<BuildLookUp> {
  const { sources, log } = deps
  const { projectId, buildId, target } = request
  const source = sources(projectId)
  if (!source?.getProject) return { kind: 'blind' }
  try {
    const query = { builds: [buildId], ...(target.branch === null ? {} : { branch: target.branch }) }
    const { builds } = await source.getProject(projectId, query)
    const build = request.action === 'stop' ? ended(request, builds) : await restarted(deps, request, builds)
    if (build) return { kind: 'shown', build }
    // CI shows a limited number of builds, so a missing build proves nothing.
    const own = ownOf(request, builds)
    return own ? { kind: 'not-shown', own } : { kind: 'blind' }
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    log.warn({ err: error, request: request.id }, 'CI could not be asked what became of a request')
    // The legacy interface does not have Pro projects: a retry would not help.
    return error.kind === 'not-found' || error.kind === 'bad-request' ? { kind: 'blind' } : { kind: 'away' }
  }
}

const ownOf = ({ buildId }: Request, builds: readonly LegacyBuild[]): LegacyBuild | undefined =>
  builds.find(({ id }) => id === buildId)

function ended(request: Request, builds: readonly LegacyBuild[]): LegacyBuild | undefined {
  const own = ownOf(request, builds)
  return own && isFinal(toStatus(own.status)) ? own : undefined
}

/** The build that CI named in its answer, or the same build restarted; if the answer was lost, the likely new build. */
async function restarted(
  { store: { read } }: ConfirmRequests,
  request: Request,
  builds: readonly LegacyBuild[],
): Promise<LegacyBuild | undefined> {
  const { projectId, buildId, newBuildId, newBuildUuid } = request
  const isNamed = ({ id, uuid }: LegacyBuild) =>
    id === newBuildId || (newBuildId === null && uuid !== null && uuid === newBuildUuid)
  const named = builds.find(isNamed)
  if (named && named.id !== buildId) return named
  const buildEvents = await read.eventsOfBuild(projectId, buildId)
  const before = buildEvents.filter(({ at }) => at <= request.requestedAt)
  const earlier = buildEvents.filter(({ at }) => at < request.requestedAt)
  const known = foldBuild(earlier, restartRequests(await read.restartsOf(projectId, buildId))).attempts.at(-1)
  const own = ownOf(request, builds)
  // This source numbers attempts itself, and a restart keeps the build's id.
  if (own && namesAttempt(own)) return attemptShown(own, buildEvents) > request.attempt ? own : undefined
  // Whether the build had ended when the restart was requested, as far as we knew.
  const wasOver = !known || hasEnded(known)
  if (own && hasBegunAgain(own, request, before, wasOver)) return own
  if (newBuildId !== null || newBuildUuid !== null) return undefined
  return successorOf(read, request, before, builds)
}

function attemptShown(build: LegacyBuild, known: readonly BuildEvent[]): number {
  const event = eventOf(build, build, { place: build, buildEvents: known }, build.status)
  return numbered(event, known).details.attempt ?? 0
}

function hasBegunAgain(build: LegacyBuild, request: Request, before: readonly BuildEvent[], wasOver: boolean): boolean {
  const status = toStatus(build.status)
  if (wasOver && (status === 'started' || status === 'waiting')) return true
  const { startedAt: known } = mergeDetails(before)
  // Both times are from CI's clock, so they can be compared directly.
  if (known !== null) return build.startedAt !== null && build.startedAt > known
  // If the build was not over, CI had already restarted it by itself, and shows that attempt.
  return wasOver && beganSince(build, request, before)
}

// Allows for CI's clock being behind. A build that began before the requested attempt ended is that attempt itself.
function beganSince({ startedAt }: LegacyBuild, { requestedAt }: Request, before: readonly BuildEvent[]): boolean {
  const endedAt = before.findLast(isFinalEvent)?.at ?? 0
  return startedAt !== null && startedAt >= Math.max(requestedAt - CI_CLOCK_OFF_MS, endedAt)
}

/** The first newer build of the same commit that began after the request, and that no other request started. */
async function successorOf(
  read: Reads,
  request: Request,
  before: readonly BuildEvent[],
  builds: readonly LegacyBuild[],
): Promise<LegacyBuild | undefined> {
  const commitId = before.findLast((buildEvent) => buildEvent.commitId !== null)?.commitId ?? null
  const others = new Set((await read.requestsOf(request.revisionKey)).map(({ newBuildId }) => newBuildId))
  const isNewer = ({ id }: LegacyBuild) => isUuid(id) || idOrder(id) > idOrder(request.buildId)
  const newer = oldestFirst(builds)
    .filter((build) => isNewer(build) && !others.has(build.id))
    .filter((build) => isSameCommit(build.commitId, commitId) && beganSince(build, request, before))
  for (const build of newer) {
    const [first] = await read.eventsOfBuild(request.projectId, build.id)
    if (!first || first.at >= request.requestedAt) return build
  }
  return undefined
}
