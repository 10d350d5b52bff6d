import type { Clock } from './clock.ts'

/** What the work comes to; rejects where it has come to nothing after `ms`. The work itself goes on. */
export async function inTime<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const patience = clock.sleep(ms, over.signal).then(() => {
    throw new Error(`no answer within ${ms} ms`)
  })
  // Whichever comes second, nobody listens to it any more. Without a reason of ours an exception would be made for it.
  return Promise.race([work, patience]).finally(() => over.abort('over'))
}
