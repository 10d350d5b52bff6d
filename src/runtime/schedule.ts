import { dueTimes } from '../lib/cron.ts'
import type { Job } from '../features/kit/feature.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** How a job ended, for metrics. */
export type JobEnd = 'done' | 'again' | 'failed'

export interface ScheduleDeps {
  store: Store
  clock: Clock
  log: Log
  count: (job: string, end: JobEnd) => void
}

/** The time zone of the jobs' cron expressions: no clock change skips or doubles a job. */
export const JOBS_ZONE = 'UTC'

export const CHECK_EVERY_MS = 5_000

/** For this long after news, a job that follows news is due at each check. */
export const NEWS_MS = 60_000

/**
 * Runs each job when it is due. A job that fails is due again at the next check; one that hangs, for example because CI
 * is slow, does not delay the others.
 */
export function createSchedule(jobs: readonly Job[], deps: ScheduleDeps) {
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  const scheduled = jobs.map((job): Scheduled => ({ job, lastDoneAt: null, nextAt: 0 }))
  let heardAt = Number.NEGATIVE_INFINITY

  function check(): void {
    if (stopping.signal.aborted) return
    const isNews = deps.clock.now() - heardAt < NEWS_MS
    for (const one of scheduled) {
      const { job } = one
      if (running.has(job.name) || !(isDue(one, deps.clock.now()) || (isNews && job.afterNews))) continue
      running.set(
        job.name,
        runIfDue(deps, one, isNews, stopping.signal).finally(() => running.delete(job.name)),
      )
    }
  }

  return {
    check,
    /** Checks again and again until the schedule is stopped. */
    async start(): Promise<void> {
      // Not node-cron's timers: they jump when somebody sets the machine's clock (decision 7).
      while (!stopping.signal.aborted) {
        check()
        await deps.clock.sleep(CHECK_EVERY_MS, stopping.signal)
      }
    },
    /** Call it when something was stored. */
    heard: (): void => void (heardAt = deps.clock.now()),
    /** Tells the running jobs to stop, and resolves when they have ended. */
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}

interface Scheduled {
  job: Job
  /** null: not read yet, or never done */
  lastDoneAt: number | null
  nextAt: number
}

async function runIfDue(
  deps: ScheduleDeps,
  scheduled: Scheduled,
  isNews: boolean,
  stopping: AbortSignal,
): Promise<void> {
  const { store, clock, log, count } = deps
  const { job } = scheduled
  try {
    const startedAt = clock.now()
    // Only this process runs the jobs now, so the time is read once.
    if (scheduled.lastDoneAt === null && isStored(job)) setLastDoneAt(scheduled, await store.read.lastDoneAt(job.name))
    if (!isDue(scheduled, startedAt) && !(isNews && job.afterNews)) return
    const end = endOf(await job.run(stopping), stopping)
    // Count from the start of the run, or a slow job would drift later and later.
    if (end === 'done') {
      if (isStored(job)) await store.write((tx) => tx.setLastDoneAt(job.name, startedAt), { canBeRedone: true })
      setLastDoneAt(scheduled, startedAt)
    }
    count(job.name, end)
  } catch (error) {
    count(job.name, 'failed')
    log.warn({ err: error, job: job.name }, 'a scheduled job failed; it will be tried again')
  }
}

const FIELDS_WITHOUT_SECONDS = 5

/** A job that runs several times a minute is due at each start: nothing is lost without a row, which costs a write. */
const isStored = ({ cron }: Job): boolean => cron.split(' ').length === FIELDS_WITHOUT_SECONDS

// Last done in the future: the clock was ahead then and has been corrected, so the job is due.
const isDue = ({ lastDoneAt, nextAt }: Scheduled, now: number): boolean =>
  lastDoneAt === null || lastDoneAt > now || nextAt <= now

function setLastDoneAt(scheduled: Scheduled, at: number | null): void {
  scheduled.lastDoneAt = at
  scheduled.nextAt = at === null ? 0 : dueTimes({ cron: scheduled.job.cron, zone: JOBS_ZONE }, at).next
}

// A job that was aborted is still due.
const endOf = (result: unknown, signal: AbortSignal): JobEnd =>
  result === 'again' || signal.aborted ? 'again' : 'done'
