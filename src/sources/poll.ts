import { NEWS_MS, type ReceivedEvent, type BuildEvent } from '../domain/builds/build-event.ts'
import { numbered } from './attempt-number.ts'
import type { BuildId, ProjectId } from '../domain/ids.ts'
import { isFinal, toStatus } from '../domain/builds/status.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'
import { toLine } from '../lib/escape.ts'
import { CiError, type CiErrorKind } from './http/errors.ts'
import type { Rate } from './http/exchange.ts'
import type { ShownBuild } from './source.ts'

/**
 * How often a project is polled: while a build runs, for an hour after something changed, and otherwise. If there are more
 * than PROJECTS_AT_ONCE projects, less often.
 */
const RUNNING_MS = 5_000
const RECENT_MS = 10_000
const QUIET_MS = 15_000
const RECENT_FOR_MS = 60 * 60_000
const PROJECTS_AT_ONCE = 20

/** How often after a failure, or when half of the calls that the token has are used: others may need the rest. */
const SPARING_MS = 60_000

/** After this many builds that could not be read, a look leaves the others to the next look. */
const UNREAD_MAX = 3

/** How often a project is read again: its default branch, which the rules depend on, may be renamed. */
const READ_PROJECT_EVERY_MS = 60 * 60_000

/** Caches a project for an hour, or until it is read `again`. @param read gets the previous result */
export function hourly<T>(read: (signal: AbortSignal, last: T | null) => Promise<T>) {
  let last: { value: T; at: number } | null = null
  return async (now: number, signal: AbortSignal, again = false): Promise<T> => {
    if (last === null || again || now - last.at >= READ_PROJECT_EVERY_MS)
      last = { value: await read(signal, last?.value ?? null), at: now }
    return last.value
  }
}

/** The projects of one source that are polled. */
export interface PolledSource {
  /** the first word of the jobs' names */
  source: 'github' | 'gitlab'
  /** `acme/web`, … */
  projects: readonly string[]
  /** Starts watching one project. */
  watch(project: string): Watch
  /** How many calls the token has left, as the source said last; null: it has not said. */
  rate(): Rate | null
}

/**
 * The builds that the source shows now, newest first; null if nothing has changed. Throws a CiError.
 * @param newsSince changes before this time (ms) are not news; null if this project was never polled
 */
type Watch = (now: number, signal: AbortSignal, newsSince: number | null) => Promise<PolledBuilds | null>

interface PolledBuilds {
  builds: readonly ListedBuild[]
  /** false: of ended builds, only the newest or the changed ones are listed */
  isWhole: boolean
  /** Call it when everything is recorded: the next look then shows only what has changed since. */
  done(): void
}

export interface ListedBuild {
  projectId: ProjectId
  buildId: BuildId
  /** differs from that of the last look if the build has changed */
  state: string
  isOpen: boolean
  /** Reads the whole build; null if it has nothing new. */
  read(known: readonly BuildEvent[]): Promise<ShownBuild | null>
  /** see `Source.readEnd`; null if `read` shows the end whole */
  readEnd: ((signal: AbortSignal) => Promise<ReceivedEvent | null>) | null
}

interface PollDeps {
  store: Pick<Store, 'write' | 'read'>
  clock: Clock
  /** Stores a build's state unless it is known. With the origin `history`, no message is sent about it. */
  record: (build: ShownBuild, origin: 'delivery' | 'history') => Promise<unknown>
  log: Log
}

/**
 * Polls a source for builds, to find those without a webhook, or whose deliveries were lost. The first look at a
 * project announces no ended builds.
 */
export function createPoll(
  deps: PollDeps,
  { source, projects, watch, rate }: PolledSource,
): (signal: AbortSignal) => Promise<void> {
  const watched = projects.map((name): WatchedProject => ({
    name,
    watch: watch(name),
    nextAt: 0,
    changedAt: 0,
    known: null,
    unread: new Set(),
  }))
  let pausedUntil = 0

  return async (signal) => {
    for (const one of watched) {
      const now = deps.clock.now()
      if (signal.aborted || now < pausedUntil) return
      if (now < one.nextAt) continue
      // Set before the look, since a failed one also counts against the rate limit and logs a line.
      one.nextAt = now + SPARING_MS
      try {
        await pollProject(deps, source, one, signal)
        one.nextAt = now + (isHalfUsed(rate(), now) ? SPARING_MS : intervalOf(one, projects.length, now))
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof CiError)) throw error
        if (error.kind === 'rate-limited') pausedUntil = deps.clock.now() + (error.retryAfterMs ?? SPARING_MS)
        if (HIDDEN.has(error.kind))
          deps.log.warn({ source, project: one.name, code: error.kind }, hiddenWords(source, one.name))
        else
          deps.log.warn(
            { err: error, source, project: one.name },
            `could not list the builds of a project (${settingOf(source, error.kind)})`,
          )
      }
    }
  }
}

/** The looks begin a moment after each other: a second early is on time. */
const EARLY_MS = 1_000

function intervalOf({ known, changedAt }: WatchedProject, projects: number, now: number): number {
  const isRunning = [...(known?.values() ?? [])].some(({ isOpen }) => isOpen)
  const ms = isRunning ? RUNNING_MS : now - changedAt < RECENT_FOR_MS ? RECENT_MS : QUIET_MS
  return ms * Math.max(1, projects / PROJECTS_AT_ONCE) - EARLY_MS
}

const isHalfUsed = (rate: Rate | null, now: number): boolean =>
  rate !== null && rate.resetAt > now && rate.left < rate.limit / 2

/** The setting to look at first. */
const settingOf = (source: PolledSource['source'], kind: CiErrorKind): string =>
  kind === 'unauthorized' ? `${source.toUpperCase()}_TOKEN` : source === 'github' ? 'GITHUB_API_URL' : 'GITLAB_URL'

/** GitHub and GitLab answer 404 for what a token may not see. */
const HIDDEN: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['not-found', 'forbidden'])

const hiddenWords = (source: PolledSource['source'], name: string): string =>
  source === 'github'
    ? `GitHub does not show ${toLine(name)} to the token: correct GITHUB_REPOSITORIES (or GITHUB_API_URL, if it is set), or give the token this repository`
    : `GitLab does not show ${toLine(name)} to the token: correct GITLAB_PROJECTS (or GITLAB_URL, if it is set), or give the token this project`

interface WatchedProject {
  name: string
  watch: Watch
  nextAt: number
  /** when a look last found something new (ms) */
  changedAt: number
  /** each build's state at the last look; null: there was none yet */
  known: ReadonlyMap<string, Pick<ListedBuild, 'state' | 'isOpen'>> | null
  /** builds that could not be read */
  unread: Set<string>
}

async function pollProject(
  deps: PollDeps,
  source: PolledSource['source'],
  watched: WatchedProject,
  signal: AbortSignal,
): Promise<void> {
  const job = `${source} ${watched.name}`
  const firstAt = await deps.store.read.lastDoneAt(job)
  const startedAt = deps.clock.now()
  const shown = await watched.watch(startedAt, signal, firstAt === null ? null : startedAt - NEWS_MS)
  if (!shown) return
  const now = deps.clock.now()
  const read: ListedBuild[] = []
  let failures = 0
  // Oldest first, like deliveries. Those that failed before come last, so that they hold up no others.
  const isUnread = ({ buildId }: ListedBuild) => watched.unread.has(buildId)
  for (const build of shown.builds.toReversed().toSorted((a, b) => Number(isUnread(a)) - Number(isUnread(b)))) {
    if (signal.aborted) return
    if (watched.known?.get(build.buildId)?.state !== build.state) {
      if (failures === UNREAD_MAX) continue
      try {
        await recordBuild(deps, build, Math.max(firstAt ?? now, now - NEWS_MS), signal)
        watched.unread.delete(build.buildId)
      } catch (error) {
        if (!(error instanceof CiError) || error.kind === 'rate-limited') throw error
        failures++
        watched.unread.add(build.buildId)
        deps.log.warn(
          { err: error, project: build.projectId, build: build.buildId },
          'could not read a build; it is tried again',
        )
        continue
      }
    }
    read.push(build)
  }
  if (read.some(({ buildId, state }) => watched.known?.get(buildId)?.state !== state)) watched.changedAt = now
  if (firstAt === null) await deps.store.write((tx) => tx.setLastDoneAt(job, now))
  if (watched.known === null)
    deps.log.info({ source, project: watched.name, builds: shown.builds.length }, 'watching a project')
  // Only now, so that a look that fails halfway is repeated.
  const stillOpen = shown.isWhole ? [] : [...(watched.known ?? [])].filter(([, { isOpen }]) => isOpen)
  watched.known = new Map([...stillOpen, ...read.map((build) => [build.buildId, build] as const)])
  if (read.length === shown.builds.length) shown.done()
}

/** @param endedAfter an unknown build that ended before this time (ms) is not news */
async function recordBuild(
  deps: PollDeps,
  listed: ListedBuild,
  endedAfter: number,
  signal: AbortSignal,
): Promise<void> {
  const known = await deps.store.read.eventsOfBuild(listed.projectId, listed.buildId)
  const build = await listed.read(known)
  if (!build) return
  const { rawStatus, details } = numbered(build.event, known)
  const hasEnded = isFinal(toStatus(rawStatus))
  const ofAttempt = known.filter((one) => one.details.attempt === details.attempt)
  if (ofAttempt.some((one) => one.details.end?.isWhole)) return
  // Of a running build only the last event matters: it may wait for several approvals in turn.
  const sameStatus = (hasEnded ? ofAttempt : ofAttempt.slice(-1)).filter((one) => one.rawStatus === rawStatus)
  const isOld = hasEnded && (details.finishedAt ?? 0) <= endedAfter
  // A command may have found a recent end first and stored it as `history`: it is known, but still news.
  if (sameStatus.some((one) => one.origin !== 'history' || isOld || !hasEnded)) return
  if (isOld && known.length === 0) return void (await deps.record(build, 'history'))
  const whole = hasEnded && toStatus(rawStatus) !== 'success' ? await endOf(deps, listed, signal) : null
  await deps.record(whole ? { ...build, event: whole } : build, 'delivery')
}

/** Null if it cannot be read now: the end is posted without its jobs, which are read later. */
async function endOf(
  { log }: PollDeps,
  { projectId, buildId, readEnd }: ListedBuild,
  signal: AbortSignal,
): Promise<ReceivedEvent | null> {
  if (!readEnd) return null
  try {
    return await readEnd(signal)
  } catch (error) {
    if (!(error instanceof CiError) || error.kind === 'rate-limited') throw error
    log.warn(
      { err: error, project: projectId, build: buildId },
      'the jobs of a build could not be read; tried again later',
    )
    return null
  }
}
