import { schedule } from 'node-cron'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** A scheduled job, run by the process that sends. Its stored "last done" time lets the next process catch up. */
export interface Job {
  name: string
  /** how often it is due (ms) */
  everyMs: number
  /** Resolves to `again` if the job is still due. The signal aborts when this process no longer runs the jobs. */
  run(signal: AbortSignal): Promise<unknown>
}

/** How a job ended, for metrics. */
export type JobEnd = 'done' | 'again' | 'failed'

export interface ScheduleDeps {
  store: Store
  clock: Clock
  log: Log
  count: (job: string, end: JobEnd) => void
}

/** How often the scheduler checks which jobs are due. */
const CHECK_CRON = '*/5 * * * * *'
const CHECK_EVERY_MS = 5_000

/** If the clock is set back by an hour, node-cron is silent for an hour. It is restarted after this much silence. */
const SILENT_MS = 2 * CHECK_EVERY_MS

/** Runs each job when it is due. A job that fails is due again at the next check. */
export function scheduleJobs(jobs: readonly Job[], deps: ScheduleDeps) {
  const dueCheck = createDueCheck(jobs, deps)
  const stopping = new AbortController()
  let ticks = 0
  // node-cron only ticks. The rows in the database say when each job was last done, and so whether it is due.
  const tick = (): void => {
    ticks++
    dueCheck.now()
  }
  let task = schedule(CHECK_CRON, tick)
  const watching = watch()

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const before = ticks
      await deps.clock.sleep(SILENT_MS, stopping.signal)
      if (ticks !== before || stopping.signal.aborted) continue
      await task.destroy()
      task = schedule(CHECK_CRON, tick)
      tick()
    }
  }

  return {
    /** Resolves when the running jobs have ended. */
    async stop(): Promise<void> {
      stopping.abort()
      await watching
      await task.destroy()
      await dueCheck.stop()
    },
  }
}

/** Creates one check for due jobs. A job that hangs, for example because CI is slow, does not delay the others. */
export function createDueCheck(jobs: readonly Job[], deps: ScheduleDeps) {
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()

  function now(): void {
    if (stopping.signal.aborted) return
    for (const job of jobs) {
      if (running.has(job.name)) continue
      running.set(
        job.name,
        runIfDue(deps, job, stopping.signal).finally(() => running.delete(job.name)),
      )
    }
  }

  return {
    now,
    isIdle: () => running.size === 0,
    /** Tells the running jobs to stop, and resolves when they have ended. */
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}

async function runIfDue(deps: ScheduleDeps, job: Job, stopping: AbortSignal): Promise<void> {
  const { store, clock, log, count } = deps
  try {
    const startedAt = clock.now()
    if (!isDue(job, await store.read.lastDoneAt(job.name), startedAt)) return
    const end = endOf(await job.run(stopping), stopping)
    // Counted from the start of the run: otherwise a job that takes long would run later and later.
    if (end === 'done') await store.write((tx) => tx.setLastDoneAt(job.name, startedAt), { canBeRedone: true })
    count(job.name, end)
  } catch (error) {
    count(job.name, 'failed')
    log.warn({ err: error, job: job.name }, 'a scheduled job failed; it will be tried again')
  }
}

/** Ticks come a little early or late, so a job that is due within half a tick counts as due. */
export const EARLY_MS = 2_500

// A job that was last done in the future is due: the clock was ahead then, and has been corrected.
const isDue = ({ everyMs }: Job, lastDoneAt: number | null, now: number): boolean =>
  lastDoneAt === null || lastDoneAt > now || now - lastDoneAt >= everyMs - EARLY_MS

// A job that was stopped while it ran is still due.
const endOf = (result: unknown, signal: AbortSignal): JobEnd =>
  result === 'again' || signal.aborted ? 'again' : 'done'
