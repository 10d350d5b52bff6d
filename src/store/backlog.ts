import { QUEUES } from '../domain/plan.ts'
import type { Store } from './store.ts'

/** Since when the oldest of each queue has waited (ms); null: nothing waits in it. */
export type OldestWaiting = Record<string, number | null>

/** What waits for a channel that is closed waits for people: it does not count. */
export async function oldestWaiting({ read }: Pick<Store, 'read'>): Promise<OldestWaiting> {
  const closed = (await read.closedChannels()).map(({ channel }) => channel)
  const oldest: OldestWaiting = { ingest: await read.oldestNews() }
  for (const queue of QUEUES) oldest[queue] = await read.oldestStep(queue, closed)
  return oldest
}
