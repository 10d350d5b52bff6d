import type { Clock } from './clock.ts'

/** What the work comes to; rejects where it has come to nothing after `ms`. The work itself goes on. */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(() => {
    throw inVain(ms)
  })
  // Without a reason of ours an exception would be made for it.
  return Promise.race([work, late]).finally(() => over.abort('over'))
}

/** What is said to whoever waited for so long. */
export const inVain = (ms: number): Error => new Error(`no answer within ${ms} ms`)
