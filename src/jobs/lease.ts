import type { Clock } from '../lib/clock.ts'
import type { Lease } from '../store/kept.ts'
import type { Store } from '../store/store.ts'

/** Whoever does a job and dies loses it after so long; whoever lives renews it three times as often. */
export const LEASE_MS = 60_000
const RENEW_MS = LEASE_MS / 3

/** A lease that reaches further than this was taken by a clock that was wrong; clocks that are right differ by less. */
export const LEASE_MAX_MS = 10 * LEASE_MS

export interface LeaseDeps {
  store: Store
  clock: Clock
  /** this process, as claims name it */
  processId: string
  /** of several processes: aborts when others have taken this one's work over */
  lost?: () => AbortSignal
}

/** A job by its name, and how often it is due (ms). */
export interface Due {
  name: string
  everyMs: number
}

/** A job that was taken: it is done, and given back. */
export interface Held {
  /** aborts when another process has it, or this one stops */
  signal: AbortSignal
  /** Gives it back, done since it was taken or due still. */
  release(isDone: boolean): Promise<void>
}

/**
 * Takes a job if it is due and nobody else is at it. On a database of our own there is nobody else. Time is ms since the
 * epoch, which no change of the clocks in spring or autumn moves. Two that are at one job, after a clock has jumped, do no
 * harm: what a job does is safe to do twice.
 */
export async function takeJob(deps: LeaseDeps, job: Due, stopping: AbortSignal): Promise<Held | null> {
  const { store, clock, processId } = deps
  const takenAt = clock.now()
  if (!isDue(job, await store.read.lastDoneAt(job.name), takenAt)) return null
  if (store.shared && !(await takeLease(deps, job))) return null
  const lost = new AbortController()
  const ended = new AbortController()
  if (store.shared) void keepLease(deps, job, { lost, ended: ended.signal })
  return {
    signal: AbortSignal.any([stopping, lost.signal, ...(deps.lost ? [deps.lost()] : [])]),
    async release(isDone) {
      ended.abort()
      await store.write(
        async (tx) => {
          // Whoever lost it meanwhile says nothing of when it was done: another one does.
          if (store.shared && !(await tx.releaseLease({ name: job.name, heldBy: processId }))) return
          // From when it began: what takes long is not done ever later.
          if (isDone) await tx.setLastDoneAt(job.name, takenAt)
        },
        { canBeRedone: true },
      )
    },
  }
}

const takeLease = ({ store, clock, processId }: LeaseDeps, job: Due): Promise<boolean> =>
  store.write(async (tx) => {
    const now = clock.now()
    const lease = leaseOf(job, processId, now)
    if (!(await tx.takeLease(lease, { now, longestMs: LEASE_MAX_MS }))) return false
    // Whoever had it a moment ago may have just done it.
    const due = isDue(job, await tx.lastDoneAt(job.name), now)
    if (!due) await tx.releaseLease(lease)
    return due
  })

async function keepLease(
  { store, clock, processId }: LeaseDeps,
  job: Due,
  { lost, ended }: { lost: AbortController; ended: AbortSignal },
): Promise<void> {
  for (;;) {
    await clock.sleep(RENEW_MS, ended)
    if (ended.aborted) return
    const now = clock.now()
    const renew = store.write((tx) => tx.takeLease(leaseOf(job, processId, now), { now, longestMs: LEASE_MAX_MS }))
    // While the store cannot be reached nobody else can take it either.
    if (!(await renew.catch(() => true))) return lost.abort()
  }
}

const leaseOf = ({ name }: Due, heldBy: string, now: number): Lease => ({ name, heldBy, heldUntil: now + LEASE_MS })

/** Ticks come a little early or late: a job that is due within half of one is due. */
export const EARLY_MS = 2_500

// Done in the future: the clock was ahead then, and has been put right.
const isDue = ({ everyMs }: Due, lastDoneAt: number | null, now: number): boolean =>
  lastDoneAt === null || lastDoneAt > now || now - lastDoneAt >= everyMs - EARLY_MS
