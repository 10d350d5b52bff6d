import { type Action, type Request, restartRequests } from '../../domain/cards/request.ts'
import type { Right } from '../../slack/api/permission.ts'
import type { ActionTarget, Decision, RestartResult, Source } from '../../sources/source.ts'
import type { Reads } from '../../store/store.ts'
import { isSameCommit, namesAttempt, oldestFirst } from '../../ci-sync/ci-snapshot.ts'
import { foldBuild, hasEnded } from '../../domain/builds/attempt.ts'
import { isFinalEvent, mergeDetails, type BuildEvent, type ReceivedEvent } from '../../domain/builds/build-event.ts'
import { isFinal, toStatus } from '../../domain/builds/status.ts'
import { CI_CLOCK_OFF_MS } from '../../projects/requests.ts'
import { idOrder, isUuid } from '../../domain/ids.ts'
import { numbered } from '../../sources/attempt-number.ts'

const AT_GATE: Acting = {
  right: 'approve',
  finds: 'newest',
  call: (source, actedOn, decision) => source.decide!(actedOn, decision!),
  lookUp: decidedBuild,
  looksAfterMs: 1_000,
}

/** Who may do each action, which build it finds, how it calls the build's source, and how it is looked up there. */
export const ACTING: Record<Action, Acting> = {
  stop: {
    right: 'operate',
    finds: 'running',
    call: (source, actedOn) => source.stop!(actedOn),
    lookUp: endedBuild,
  },
  restart: {
    right: 'operate',
    finds: 'newest',
    call: (source, actedOn) => source.restart!(actedOn),
    lookUp: restartedBuild,
  },
  approve: AT_GATE,
  reject: AT_GATE,
  play: AT_GATE,
}

interface Acting {
  right: Right
  /** which build of a branch people mean by it */
  finds: 'running' | 'newest'
  /** @param decision left out: the action is about the whole build @returns nothing: it starts no build */
  call: (source: Source, actedOn: ActionTarget, decision?: Decision) => Promise<RestartResult | void>
  /**
   * The build that shows the result, among those that the source shows now; undefined: none does yet. `others`: somebody else has
   * brought it about.
   */
  lookUp: (
    request: Request,
    builds: readonly ReceivedEvent[],
    source: Source,
    read: Reads,
  ) => Promise<ReceivedEvent | 'others' | undefined>
  /** The source does not report the result, so it is looked up this long after the answer (ms). */
  looksAfterMs?: number
}

// Finds the result of a request among the builds that its source shows.

/** The requested build itself. */
export const ownOf = (
  { buildId }: Pick<Request, 'buildId'>,
  builds: readonly ReceivedEvent[],
): ReceivedEvent | undefined => builds.find((build) => build.buildId === buildId)

/** The build, if it has ended. */
async function endedBuild(request: Request, builds: readonly ReceivedEvent[]) {
  const own = ownOf(request, builds)
  return own && isFinal(toStatus(own.rawStatus)) ? own : undefined
}

/**
 * The build, if the decision took effect: its source accepted it and the build no longer waits at the gate, or the source
 * lists a decision with the request's id. Where it keeps no comments about such gates, that the build no longer waits is
 * the only sign. `others`: the build goes on, and only decisions of other people are listed. A build that has ended proves
 * nothing: it may have been cancelled.
 */
async function decidedBuild(request: Request, builds: readonly ReceivedEvent[], source: Source) {
  const own = ownOf(request, builds)
  const { projectId, buildId, target } = request
  const { gate, project } = target
  if (!own || !gate) return undefined
  const hasPassed =
    toStatus(own.rawStatus) !== 'waiting' || own.details.gates?.some(({ id }) => id === gate.id) === false
  if (hasPassed && request.state === 'accepted') return own
  const comments = await source.readDecisions!({ projectId, project, buildId }, gate)
  if (comments === null ? hasPassed : comments.some((comment) => comment.includes(request.id))) return own
  return hasPassed && !isFinal(toStatus(own.rawStatus)) && comments?.length ? 'others' : undefined
}

/** The build that CI named in its answer, or the same build restarted; if the answer was lost, the likely new build. */
async function restartedBuild(
  request: Request,
  builds: readonly ReceivedEvent[],
  _: Source,
  read: Reads,
): Promise<ReceivedEvent | undefined> {
  const { projectId, buildId, newBuildId, newBuildUuid } = request
  const isNamed = ({ buildId: id, details: { buildUuid: uuid } }: ReceivedEvent) =>
    id === newBuildId || (newBuildId === null && uuid !== null && uuid === newBuildUuid)
  const named = builds.find(isNamed)
  if (named && named.buildId !== buildId) return named
  const buildEvents = await read.eventsOfBuild(projectId, buildId)
  const before = buildEvents.filter(({ at }) => at <= request.requestedAt)
  const earlier = buildEvents.filter(({ at }) => at < request.requestedAt)
  const known = foldBuild(earlier, restartRequests(await read.restartsOf(projectId, buildId))).attempts.at(-1)
  const own = ownOf(request, builds)
  // This source numbers attempts itself, and a restart keeps the build's id.
  if (own && namesAttempt(own))
    return (numbered(own, buildEvents).details.attempt ?? 0) > request.attempt ? own : undefined
  // Whether the build had ended when the restart was requested, as far as we knew.
  const wasOver = !known || hasEnded(known)
  if (own && hasBegunAgain(own, request, before, wasOver)) return own
  if (newBuildId !== null || newBuildUuid !== null) return undefined
  return successorOf(read, request, before, builds)
}

function hasBegunAgain(
  build: ReceivedEvent,
  request: Request,
  before: readonly BuildEvent[],
  wasOver: boolean,
): boolean {
  const status = toStatus(build.rawStatus)
  if (wasOver && (status === 'started' || status === 'waiting')) return true
  const { startedAt: known } = mergeDetails(before)
  // Both times are from CI's clock, so they can be compared directly.
  if (known !== null) {
    const { startedAt } = build.details
    return startedAt !== null && startedAt > known
  }
  // If the build was not over, CI had already restarted it by itself, and shows that attempt.
  return wasOver && beganSince(build, request, before)
}

// Allows for CI's clock being behind. A build that began before the requested attempt ended is that attempt itself.
function beganSince(
  { details: { startedAt } }: ReceivedEvent,
  { requestedAt }: Request,
  before: readonly BuildEvent[],
): boolean {
  const endedAt = before.findLast(isFinalEvent)?.at ?? 0
  return startedAt !== null && startedAt >= Math.max(requestedAt - CI_CLOCK_OFF_MS, endedAt)
}

/** The first newer build of the same commit that began after the request, and that no other request started. */
async function successorOf(
  read: Reads,
  request: Request,
  before: readonly BuildEvent[],
  builds: readonly ReceivedEvent[],
): Promise<ReceivedEvent | undefined> {
  const commitId = before.findLast((buildEvent) => buildEvent.commitId !== null)?.commitId ?? null
  const others = new Set((await read.requestsOf(request.revisionKey)).map(({ newBuildId }) => newBuildId))
  const isNewer = ({ buildId: id }: ReceivedEvent) => isUuid(id) || idOrder(id) > idOrder(request.buildId)
  const newer = oldestFirst(builds)
    .filter((build) => isNewer(build) && !others.has(build.buildId))
    .filter((build) => isSameCommit(build.commitId, commitId) && beganSince(build, request, before))
  for (const build of newer) {
    const [first] = await read.eventsOfBuild(request.projectId, build.buildId)
    if (!first || first.at >= request.requestedAt) return build
  }
  return undefined
}
