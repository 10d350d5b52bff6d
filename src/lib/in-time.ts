import type { Clock } from './clock.ts'

/** What the work comes to; rejects where it has come to nothing after `ms`. The work itself goes on. */
export async function inTime<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  // Without a reason of ours an exception would be made for it.
  return Promise.race([work, lateAfter(clock, ms, over.signal)]).finally(() => over.abort('over'))
}

/** Rejects after `ms`. Once `over` is aborted nobody listens to it any more. */
export const lateAfter = (clock: Clock, ms: number, over: AbortSignal): Promise<never> =>
  clock.sleep(ms, over).then(() => {
    throw new Error(`no answer within ${ms} ms`)
  })
