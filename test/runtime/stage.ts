import type { Job } from '../../src/features/kit/feature.ts'
import { createSchedule, type ScheduleDeps } from '../../src/runtime/schedule.ts'
import type { Store } from '../../src/store/store.ts'
import type { HandClock } from '../support/hand-clock.ts'

export interface Process {
  look: ReturnType<typeof createSchedule>
  ended: string[]
  warned: string[]
}

/** One process with these jobs, on this store. */
export function processOn(store: Store, clock: HandClock, ...jobs: readonly Job[]): Process {
  const ended: string[] = []
  const warned: string[] = []
  const mute = () => {}
  const deps: ScheduleDeps = {
    store,
    clock,
    log: { debug: mute, info: mute, error: mute, warn: (_, text) => void warned.push(text) },
    count: (job, end) => void ended.push(`${job} ${end}`),
  }
  return { look: createSchedule(jobs, deps), ended, warned }
}

/** Lets each process look for due jobs, and waits until everything has settled. */
export async function look(clock: HandClock, ...processes: readonly Process[]): Promise<void> {
  for (const process of processes) process.look.check()
  await clock.settle()
}

export const HOURLY = '0 * * * *'

/** A job that records its runs, and ends when the test says so. */
export function held(clock: HandClock, cron = HOURLY) {
  const begun: number[] = []
  let end: () => void = () => {}
  let aborted = false
  const job: Job = {
    name: 'prune',
    cron,
    run: (signal) =>
      new Promise<void>((resolve) => {
        begun.push(clock.now())
        end = resolve
        signal.addEventListener('abort', () => {
          aborted = true
          resolve()
        })
      }),
  }
  return { job, begun, end: () => end(), isAborted: () => aborted }
}

export function counted(clock: HandClock, cron = HOURLY, said: () => unknown = () => {}) {
  const begun: number[] = []
  const run = async () => {
    begun.push(clock.now())
    return said()
  }
  return { job: { name: 'prune', cron, run } satisfies Job, begun }
}
