import { isFinalEvent, NEWS_MS, type BuildEvent, type ReceivedEvent } from '../domain/builds/build-event.ts'
import { isRed } from '../domain/builds/status.ts'
import { buildKey, sourceOf, type SourceName } from '../domain/ids.ts'
import { GATES_AGAIN_MS } from '../domain/builds/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { CiError, isAway } from '../sources/http/errors.ts'
import type { SourceReport, UnreadBuild, Sources } from '../sources/source.ts'
import type { KnownBuild } from '../store/records.ts'
import type { Store } from '../store/store.ts'

/** One round reads at most this many builds. Each takes two to six calls, and what failed in it up to ten more. */
export const ENDS_MAX = 10

/** How long to wait after a call that failed; longer if the source says so. */
const AGAIN_MS = 60_000

interface ReadEnds {
  store: Pick<Store, 'read' | 'write'>
  clock: Clock
  log: Log
  sources: Sources
  /** whether excerpts of logs are shown */
  failureLogs: boolean
  /** Stores a build as its source showed it, unless it is known. */
  record: (shown: { event: ReceivedEvent }) => Promise<unknown>
  /** Stores what the source says failed in an attempt. */
  recordFailures: (build: UnreadBuild, reports: readonly SourceReport[]) => Promise<unknown>
}

/**
 * Asks each build's source who opened its pull or merge request, and what it waits for; and, once after its end, which jobs
 * failed and whether its status is the whole truth. The jobs always have the last word. Then, if a channel was told of it,
 * what failed.
 */
export async function readEnds(deps: ReadEnds, signal: AbortSignal): Promise<void> {
  const due = await deps.store.read.unreadEnds(deps.clock.now(), ENDS_MAX)
  // All ends first: what failed may be in logs, which take long to read.
  const read = await each(deps, due, readEnd, signal)
  const done = await each(deps, read, readFailures, signal)
  // What a build waits for may change without an event.
  const againAt = ({ status }: KnownBuild) => (status === 'waiting' ? deps.clock.now() + GATES_AGAIN_MS : null)
  for (const build of done) await deps.store.write((tx) => tx.setReadEndAt(build, againAt(build)))
}

/** Takes a step for each build. Those whose source cannot be asked now are postponed. @returns the others */
async function each(
  deps: ReadEnds,
  builds: readonly KnownBuild[],
  step: (deps: ReadEnds, build: KnownBuild, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<KnownBuild[]> {
  const done: KnownBuild[] = []
  // A failing source does not hold up others: its builds are postponed without another call.
  const away = new Set<SourceName>()
  for (const build of builds) {
    if (signal.aborted) break
    const source = sourceOf(build.projectId)
    try {
      if (away.has(source)) await putOff(deps, build, AGAIN_MS)
      else {
        await step(deps, build, signal)
        done.push(build)
      }
    } catch (error) {
      if (!(error instanceof CiError)) throw error
      const { projectId: project, buildId } = build
      deps.log.warn({ err: error, project, build: buildId }, 'a build could not be read; tried again later')
      await putOff(deps, build, Math.max(AGAIN_MS, error.retryAfterMs ?? 0))
      if (isAway(error)) away.add(source)
    }
  }
  return done
}

const putOff = ({ store, clock }: ReadEnds, build: KnownBuild, ms: number): Promise<void> =>
  store.write((tx) => tx.setReadEndAt(build, clock.now() + ms))

async function readEnd({ store, clock, sources, record }: ReadEnds, build: KnownBuild, signal: AbortSignal) {
  const read = sources(build.projectId)?.readEnd
  const events = await eventsOf(store.read, build)
  if (!read || events.some(({ details }) => details.end?.isWhole) || clock.now() - build.at > NEWS_MS) return
  const unread = await unreadBuild(store.read, build, events)
  const event = unread && (await read(unread, signal))
  if (event) await record({ event })
}

async function readFailures(deps: ReadEnds, build: KnownBuild, signal: AbortSignal): Promise<void> {
  const { store, clock, sources, failureLogs, recordFailures } = deps
  const read = sources(build.projectId)?.readFailures
  // Read again: the jobs may have shown that it did not fail.
  const events = await eventsOf(store.read, build)
  const end = events.findLast(({ details }) => details.end?.isWhole) ?? events.findLast(isFinalEvent)
  if (!read || !end || !isRed(end.status) || clock.now() - build.at > NEWS_MS) return
  const reports = await store.read.reportsOf(buildKey(build.projectId, build.buildId))
  const isAsked = reports.some(({ report }) => report.by === 'source' && report.attempt === build.attempt)
  if (isAsked || !(await isPosted(store.read, events))) return
  const unread = await unreadBuild(store.read, build, events)
  if (unread) await recordFailures(unread, await read(unread, failureLogs, signal))
}

async function eventsOf(reads: Store['read'], { projectId, buildId, attempt }: KnownBuild): Promise<BuildEvent[]> {
  const events = await reads.eventsOfBuild(projectId, buildId)
  return events.filter(({ details }) => details.attempt === attempt)
}

/** Whether a channel was told of the end. */
async function isPosted(reads: Store['read'], events: readonly BuildEvent[]): Promise<boolean> {
  for (const { seq } of events.filter(isFinalEvent))
    if ((await reads.decisionsOfEvent(seq)).some(({ verdict }) => verdict === 'post')) return true
  return false
}

async function unreadBuild(
  reads: Store['read'],
  { projectId, buildId, attempt, branch: stream }: KnownBuild,
  events: readonly BuildEvent[],
): Promise<UnreadBuild | null> {
  const project = await reads.project({ uuid: null, legacyId: projectId, names: [] })
  const lastEndAt = events.findLast(({ details }) => details.lastEndAt !== null)?.details.lastEndAt ?? null
  return project && { projectId, project: project.name, stream, buildId, attempt, lastEndAt }
}
