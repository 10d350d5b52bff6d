import { NEWS_MS, type Observation } from '../domain/build-event.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { CiError, isAway } from '../sources/http/errors.ts'
import type { EndedBuild, Sources } from '../sources/source.ts'
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
  /** Stores what a source showed, unless it is known. */
  record: (shown: { observation: Observation }) => Promise<unknown>
}

/**
 * Asks each build's source, once after its end, which jobs failed and whether its own word is the whole truth. However
 * the end was learnt, what its jobs say has the last word.
 */
export async function readEnds(deps: ReadEnds, signal: AbortSignal): Promise<void> {
  const due = await deps.store.read.unreadEnds(deps.clock.now(), ENDS_MAX)
  for (const build of due) {
    if (signal.aborted || !(await readEnd(deps, build, signal))) return
  }
}

/** @returns false if its source cannot be asked now */
async function readEnd(
  { store, clock, log, sources, record }: ReadEnds,
  build: KnownBuild,
  signal: AbortSignal,
): Promise<boolean> {
  const { projectId, buildId } = build
  const later = (at: number | null) => store.write((tx) => tx.setReadEndAt(build, at))
  const read = sources(projectId)?.readEnd
  const ended = read ? await endedBuild(store.read, build) : null
  if (!read || !ended || clock.now() - build.at > NEWS_MS) {
    await later(null)
    return true
  }
  try {
    const observation = await read(ended, signal)
    if (observation) await record({ observation })
    await later(null)
    return true
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    log.warn(
      { err: error, project: projectId, build: buildId },
      'could not read the jobs of a build; tried again later',
    )
    await later(clock.now() + Math.max(AGAIN_MS, error.retryAfterMs ?? 0))
    return !isAway(error)
  }
}

async function endedBuild(
  reads: Store['read'],
  { projectId, buildId, attempt }: KnownBuild,
): Promise<EndedBuild | null> {
  const project = await reads.project({ uuid: null, legacyId: projectId, names: [] })
  const events = await reads.eventsOfBuild(projectId, buildId)
  const end = events.findLast(({ details }) => details.attempt === attempt && details.lastEndAt !== null)
  return project && { projectId, project: project.name, buildId, attempt, lastEndAt: end?.details.lastEndAt ?? null }
}
