import { schedule } from 'node-cron'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** One piece of upkeep, done by the process that sends. Its "last done" row lets the next one catch up. */
export interface Job {
  name: string
  /** how often it is due (ms) */
  everyMs: number
  /** `again`: it could not be done, and is due still. The signal aborts when this process no longer does the jobs. */
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
  const { store, clock, log, count } = deps
  try {
    const startedAt = clock.now()
    if (!isDue(job, await store.read.lastDoneAt(job.name), startedAt)) return
    const end = endOf(await job.run(stopping), stopping)
    // From when it began: what takes long must not be done ever later.
    if (end === 'done') await store.write((tx) => tx.setLastDoneAt(job.name, startedAt), { canBeRedone: true })
    count(job.name, end)
  } catch (error) {
    count(job.name, 'failed')
    log.warn({ err: error, job: job.name }, 'a scheduled job failed; it will be tried again')
  }
}

/** Ticks come a little early or late: a job that is due within half of one is due. */
export const EARLY_MS = 2_500

// Done in the future: the clock was ahead then, and has been put right.
const isDue = ({ everyMs }: Job, lastDoneAt: number | null, now: number): boolean =>
  lastDoneAt === null || lastDoneAt > now || now - lastDoneAt >= everyMs - EARLY_MS

// What was stopped in the middle is not done.
const endOf = (said: unknown, signal: AbortSignal): JobEnd => (said === 'again' || signal.aborted ? 'again' : 'done')
