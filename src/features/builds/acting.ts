import { type Action, type GateAction, type Request, restartRequests } from '../../domain/cards/request.ts'
import type { LegacyBuild } from '../../domain/ci-project/project.ts'
import type { Right } from '../../slack/api/permission.ts'
import type { ActionTarget, Decision, RestartResult, Source } from '../../sources/source.ts'
import type { Reads } from '../../store/store.ts'
import { eventOf, isSameCommit, namesAttempt, oldestFirst } from '../../ci-sync/ci-snapshot.ts'
import { foldBuild, hasEnded } from '../../domain/builds/attempt.ts'
import { isFinalEvent, mergeDetails, type BuildEvent } from '../../domain/builds/build-event.ts'
import { isFinal, toStatus } from '../../domain/builds/status.ts'
import { CI_CLOCK_OFF_MS } from '../../projects/requests.ts'
import { idOrder, isUuid } from '../../domain/ids.ts'
import { numbered } from '../../sources/attempt-number.ts'

/** Who may do each action, which build it finds, how it calls the build's source, and how it is looked up there. */
export const ACTING: Record<Action, Acting> = {
  stop: {
    right: 'operate',
    finds: 'running',
    async call(source, actedOn) {
      await source.stop!(actedOn)
      return NO_NEW_BUILD
    },
    lookUp: endedBuild,
  },
  restart: {
    right: 'operate',
    finds: 'newest',
    call: (source, actedOn) => source.restart!(actedOn),
    lookUp: restartedBuild,
  },
  approve: ofGate('approve'),
  reject: ofGate('reject'),
  play: ofGate('play'),
}

interface Acting {
  right: Right
  /** which build of a branch people mean by it */
  finds: 'running' | 'newest'
  /** @param decided left out: the action is about the whole build */
  call: (source: Source, actedOn: ActionTarget, decided?: Omit<Decision, 'action'>) => Promise<RestartResult>
  /**
   * The build that shows the result, among those that the source shows now; undefined: none does yet. `others`: somebody else has
   * brought it about.
   */
  lookUp: (
    request: Request,
    builds: readonly LegacyBuild[],
    source: Source,
    read: Reads,
  ) => Promise<LegacyBuild | 'others' | undefined>
  /** The source does not report the result, so it is looked up this long after the answer (ms). */
  looksAfterMs?: number
}

function ofGate(action: GateAction): Acting {
  return {
    right: 'approve',
    finds: 'newest',
    async call(source, actedOn, decided) {
      await source.decide!(actedOn, { action, ...decided! })
      return NO_NEW_BUILD
    },
    lookUp: decidedBuild,
    looksAfterMs: 1_000,
  }
}

export const NO_NEW_BUILD: RestartResult = { newBuildId: null, newBuildUuid: null }

// Finds the result of a request among the builds that its source shows.

/** The requested build itself. */
export const ownOf = ({ buildId }: Request, builds: readonly LegacyBuild[]): LegacyBuild | undefined =>
  builds.find(({ id }) => id === buildId)

/** The build, if it has ended. */
async function endedBuild(request: Request, builds: readonly LegacyBuild[]) {
  const own = ownOf(request, builds)
  return own && isFinal(toStatus(own.status)) ? own : undefined
}

/**
 * The build, if the decision took effect: its source accepted it and the build no longer waits at the gate, or the source
 * lists a decision with the request's id. Where it keeps no comments about such gates, that the build no longer waits is
 * the only sign. `others`: the build goes on, and only decisions of other people are listed. A build that has ended proves
 * nothing: it may have been cancelled.
 */
async function decidedBuild(request: Request, builds: readonly LegacyBuild[], source: Source) {
  const own = ownOf(request, builds)
  const { projectId, buildId, target } = request
  const { gate, project } = target
  if (!own || !gate) return undefined
  const hasPassed = toStatus(own.status) !== 'waiting' || own.gates?.some(({ id }) => id === gate.id) === false
  if (hasPassed && request.state === 'accepted') return own
  const comments = await source.readDecisions!({ projectId, project, buildId }, gate)
  if (comments === null ? hasPassed : comments.some((comment) => comment.includes(request.id))) return own
  return hasPassed && !isFinal(toStatus(own.status)) && comments?.length ? 'others' : undefined
}

/** The build that CI named in its answer, or the same build restarted; if the answer was lost, the likely new build. */
async function restartedBuild(
  request: Request,
  builds: readonly LegacyBuild[],
  _: Source,
  read: Reads,
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
