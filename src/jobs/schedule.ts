import { schedule } from 'node-cron'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** One piece of upkeep. It keeps its own "last done" row, so that a restart catches up and a clock change doubles nothing. */
export interface Job {
  name: string
  /** how often it is due, in ms */
  everyMs: number
  run(): Promise<unknown>
}

/** So often the clock is looked at for jobs that are due. */
const LOOK = '*/5 * * * * *'

/** Runs each job when it is due by its "last done" row; a job that fails is due again at the next look. */
export function scheduleJobs(jobs: readonly Job[], { store, clock, log }: { store: Store; clock: Clock; log: Log }) {
  const running = new Set<string>()

  // Not waited for: a job that hangs on a CI that is slow must hold up no other.
  function look(): void {
    for (const job of jobs) void runIfDue(job)
  }

  async function runIfDue(job: Job): Promise<void> {
    if (running.has(job.name)) return
    running.add(job.name)
    try {
      const lastDoneAt = (await store.read.lastDoneAt(job.name)) ?? Number.NEGATIVE_INFINITY
      if (clock.now() - lastDoneAt >= job.everyMs) await job.run()
    } catch (error) {
      log.warn({ err: error, job: job.name }, 'a scheduled job failed; it will be tried again')
    } finally {
      running.delete(job.name)
    }
  }

  const task = schedule(LOOK, look)
  return {
    stop: async () => {
      await task.stop()
    },
  }
}
