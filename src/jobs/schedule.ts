import { schedule } from 'node-cron'
import { takeJob, type Held, type LeaseDeps } from './lease.ts'
import type { Log } from '../lib/log.ts'

/**
 * One piece of upkeep. Its "last done" row lets a restart catch up, and tells several processes that one of them has done
 * it; its lease lets one of them be at it at a time.
 */
export interface Job {
  name: string
  /** how often it is due (ms); null: it is of this process alone, and done at each look, without row or lease */
  everyMs: number | null
  /** `again`: it could not be done, and is due still. The signal aborts when the process stops, or has lost its lease. */
  run(signal: AbortSignal): Promise<unknown>
}

/** How a job ended, for metrics. */
export type JobEnd = 'done' | 'again' | 'failed'

export interface ScheduleDeps extends LeaseDeps {
  log: Log
  count: (job: string, end: JobEnd) => void
}

/** So often it is looked at which jobs are due. */
const LOOK = '*/5 * * * * *'
const LOOK_EVERY_MS = 5_000

/** The library goes by the clock that people set: set back by an hour, it is silent for an hour. Then it begins anew. */
const SILENT_MS = 2 * LOOK_EVERY_MS

/** Runs each job when it is due; one that fails is due again at the next look. */
export function scheduleJobs(jobs: readonly Job[], deps: ScheduleDeps) {
  const look = createLook(jobs, deps)
  const stopping = new AbortController()
  let looks = 0
  // It only ticks: what is due, and whether it was done, is told by the rows.
  const tick = (): void => {
    looks++
    look.now()
  }
  let task = schedule(LOOK, tick)
  const watching = watch()

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const before = looks
      await deps.clock.sleep(SILENT_MS, stopping.signal)
      if (looks !== before || stopping.signal.aborted) continue
      await task.destroy()
      task = schedule(LOOK, tick)
      tick()
    }
  }

  return {
    /** Resolves when what is under way has ended. */
    async stop(): Promise<void> {
      stopping.abort()
      await watching
      await task.destroy()
      await look.stop()
    },
  }
}

/** Looks once for what is due. A job that hangs, on a CI that is slow, holds up no other. */
export function createLook(jobs: readonly Job[], deps: ScheduleDeps) {
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
    /** What is under way is told to stop; resolves when it has ended. */
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}

async function runIfDue(deps: ScheduleDeps, job: Job, stopping: AbortSignal): Promise<void> {
  const { log, count } = deps
  try {
    const { name, everyMs } = job
    const end =
      everyMs === null
        ? endOf(await job.run(stopping), stopping)
        : await runHeld(job, await takeJob(deps, { name, everyMs }, stopping))
    if (end) count(job.name, end)
  } catch (error) {
    count(job.name, 'failed')
    log.warn({ err: error, job: job.name }, 'a scheduled job failed; it will be tried again')
  }
}

async function runHeld(job: Job, held: Held | null): Promise<JobEnd | null> {
  if (!held) return null
  let isDone = false
  try {
    const end = endOf(await job.run(held.signal), held.signal)
    isDone = end === 'done'
    return end
  } finally {
    await held.release(isDone)
  }
}

// What was stopped in the middle is not done.
const endOf = (said: unknown, signal: AbortSignal): JobEnd => (said === 'again' || signal.aborted ? 'again' : 'done')
