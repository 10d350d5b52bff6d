import { NEWS_MS, type Observation } from '../domain/builds/build-event.ts'
import { sourceOf, type SourceName } from '../domain/ids.ts'
import { GATES_AGAIN_MS } from '../domain/builds/attempt.ts'
import { toStatus } from '../domain/builds/status.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { CiError, isAway } from '../sources/http/errors.ts'
import type { UnreadBuild, Sources } from '../sources/source.ts'
import type { KnownBuild } from '../store/records.ts'
import type { Store } from '../store/store.ts'

/** One round reads at most this many builds. Each takes two to six calls. */
export const ENDS_MAX = 10

/** How long to wait after a call that failed; longer if the source says so. */
const AGAIN_MS = 60_000

interface ReadEnds {
  store: Pick<Store, 'read' | 'write'>
  clock: Clock
  log: Log
  sources: Sources
  /** Stores a build as its source showed it, unless it is known. */
  record: (shown: { observation: Observation }) => Promise<unknown>
}

/**
 * Asks each build's source who opened its pull or merge request, and what it waits for; and, once after its end, which jobs failed and whether
 * its status is the whole truth. The jobs always have the last word.
 */
export async function readEnds(deps: ReadEnds, signal: AbortSignal): Promise<void> {
  const due = await deps.store.read.unreadEnds(deps.clock.now(), ENDS_MAX)
  // A failing source does not hold up others: its builds are postponed without another call.
  const away = new Set<SourceName>()
  for (const build of due) {
    if (signal.aborted) return
    const source = sourceOf(build.projectId)
    if (away.has(source)) await putOff(deps, build, AGAIN_MS)
    else if (!(await readEnd(deps, build, signal))) away.add(source)
  }
}

/** @returns false if its source cannot be asked now */
async function readEnd(deps: ReadEnds, build: KnownBuild, signal: AbortSignal): Promise<boolean> {
  const { store, clock, log, sources, record } = deps
  const { projectId, buildId } = build
  const read = sources(projectId)?.readEnd
  const ended = read ? await unreadBuild(store.read, build) : null
  try {
    const isDue = read && ended && clock.now() - build.at <= NEWS_MS
    const observation = isDue ? await read(ended, signal) : null
    if (observation) await record({ observation })
    const isWaiting = observation !== null && toStatus(observation.rawStatus) === 'waiting'
    await store.write((tx) => tx.setReadEndAt(build, isWaiting ? clock.now() + GATES_AGAIN_MS : null))
    return true
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    log.warn({ err: error, project: projectId, build: buildId }, 'a build could not be read; tried again later')
    await putOff(deps, build, Math.max(AGAIN_MS, error.retryAfterMs ?? 0))
    return !isAway(error)
  }
}

const putOff = ({ store, clock }: ReadEnds, build: KnownBuild, ms: number): Promise<void> =>
  store.write((tx) => tx.setReadEndAt(build, clock.now() + ms))

async function unreadBuild(
  reads: Store['read'],
  { projectId, buildId, attempt, branch: stream }: KnownBuild,
): Promise<UnreadBuild | null> {
  const project = await reads.project({ uuid: null, legacyId: projectId, names: [] })
  const events = await reads.eventsOfBuild(projectId, buildId)
  const end = events.findLast(({ details }) => details.attempt === attempt && details.lastEndAt !== null)
  const lastEndAt = end?.details.lastEndAt ?? null
  return project && { projectId, project: project.name, stream, buildId, attempt, lastEndAt }
}
