import { NEWS_MS } from '../../domain/build-event.ts'
import { isFinal, isRed, toStatus } from '../../domain/status.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/store.ts'
import { CiError } from '../http/errors.ts'
import type { GithubClient } from './client.ts'
import { readRun, type Run } from './run.ts'

/** The job is due this often, and a repository where something runs is asked each time. */
export const POLL_EVERY_MS = 15_000

/** A repository where nothing runs is asked this often. */
const AT_REST_MS = 60_000

/** Its default branch may be renamed, which decides who is told. */
const REPOSITORY_MS = 60 * 60_000

export interface PollDeps {
  store: Pick<Store, 'write' | 'read'>
  clock: Clock
  /** Stores what a run shows, unless it is known; as `history` it is known from then on, and nobody is told. */
  record: (run: Run, origin: 'delivery' | 'history') => Promise<unknown>
  log: Log
  github: GithubClient
  /** `acme/web`, … */
  repositories: readonly string[]
}

/**
 * Asks GitHub which runs there are, so that builds are told without a webhook, and also those that it did not deliver. The
 * first look at a repository announces nothing that has ended.
 */
export function createGithubPoll(deps: PollDeps): (signal: AbortSignal) => Promise<void> {
  const states = new Map<string, RepositoryState>(
    deps.repositories.map((name) => [
      name,
      { etag: null, nextAt: 0, isBusy: false, repository: null, readAt: 0, known: new Map() },
    ]),
  )
  let pausedUntil = 0

  return async (signal) => {
    for (const [name, state] of states) {
      const now = deps.clock.now()
      if (signal.aborted || now < pausedUntil) return
      if (now < state.nextAt) continue
      // Also where it cannot be asked: each attempt counts for the rate limit and logs a line.
      state.nextAt = now + AT_REST_MS
      try {
        await look(deps, name, state, signal)
        if (state.isBusy) state.nextAt = now
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof CiError)) throw error
        if (error.kind === 'rate-limited') pausedUntil = now + (error.retryAfterMs ?? AT_REST_MS)
        deps.log.warn({ err: error, repository: name }, 'GitHub could not be asked for the runs of a repository')
      }
    }
  }
}

interface RepositoryState {
  etag: string | null
  nextAt: number
  /** something runs there */
  isBusy: boolean
  /** as GitHub shows it: runs do not name the default branch */
  repository: unknown
  /** when it did */
  readAt: number
  /** how each run stood at the last look */
  known: ReadonlyMap<string, string>
}

async function look(deps: PollDeps, name: string, state: RepositoryState, signal: AbortSignal): Promise<void> {
  const askedAt = deps.clock.now()
  if (state.repository === null || askedAt - state.readAt >= REPOSITORY_MS) {
    state.repository = await deps.github.repository(name, signal)
    state.readAt = askedAt
  }
  const answer = await deps.github.runs(name, { etag: state.etag, signal })
  if (answer === 'unchanged') return
  const job = `github ${name}`
  const firstAt = await deps.store.read.lastDoneAt(job)
  const runs = answer.runs.flatMap((run) => readRun(run, state.repository) ?? [])
  state.isBusy = runs.some((run) => !hasEnded(run))
  const now = deps.clock.now()
  // Oldest first, as deliveries come.
  for (const run of runs.toReversed()) {
    if (state.known.get(run.seen.buildId) === stateOf(run)) continue
    await keep(deps, name, run, Math.max(firstAt ?? now, now - NEWS_MS))
  }
  if (firstAt === null) await deps.store.write((tx) => tx.setLastDoneAt(job, now))
  // Only now: a look that failed half way is made again.
  state.known = new Map(runs.map((run) => [run.seen.buildId, stateOf(run)]))
  state.etag = answer.etag
}

const stateOf = ({ seen }: Run): string => `${seen.details.attempt} ${seen.word}`

const hasEnded = ({ seen }: Run): boolean => isFinal(toStatus(seen.word))

/** @param endedAfter what ended before (ms), and is unknown, is no news */
async function keep(deps: PollDeps, repository: string, run: Run, endedAfter: number): Promise<void> {
  const { projectId, buildId, word, details } = run.seen
  const known = await deps.store.read.eventsOfBuild(projectId, buildId)
  const isRedRun = isRed(toStatus(word))
  const ofAttempt = known.filter((one) => one.details.attempt === details.attempt)
  // Of a run that goes on the last word counts: it may wait for one approval after another.
  const said = (hasEnded(run) ? ofAttempt : ofAttempt.slice(-1)).filter((one) => one.word === word)
  const isOld = hasEnded(run) && (details.finishedAt ?? 0) <= endedAfter
  // An end that a command came upon first is known, and still news.
  const isKnown = said.some((one) =>
    one.origin === 'history' ? isOld || !hasEnded(run) : !isRedRun || one.details.failedJobs !== null,
  )
  if (isKnown) return
  if (isOld && known.length === 0) return void (await deps.record(run, 'history'))
  const failedJobs = isRedRun ? await failedJobsOf(deps, repository, run) : null
  await deps.record({ ...run, seen: { ...run.seen, details: { ...details, failedJobs } } }, 'delivery')
}

/** Null: GitHub does not show them. That one run failed is told without their names, and holds up no other run. */
async function failedJobsOf({ github, log }: PollDeps, repository: string, { seen }: Run): Promise<string[] | null> {
  try {
    return await github.failedJobs(repository, seen.buildId, seen.details.attempt ?? 1)
  } catch (error) {
    if (!(error instanceof CiError) || error.kind === 'rate-limited') throw error
    log.warn({ err: error, repository, run: seen.buildId }, 'GitHub could not be asked which jobs failed')
    return null
  }
}
