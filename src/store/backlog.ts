import { QUEUES } from '../domain/plan.ts'
import type { Store } from './store.ts'

/** When the oldest entry of each queue became due (ms); null: the queue is empty. */
export type OldestWaiting = Record<string, number | null>

/** Leaves out cards in closed channels: they wait for a person. */
export async function oldestWaiting({ read }: Pick<Store, 'read'>): Promise<OldestWaiting> {
  const closed = (await read.closedChannels()).map(({ channel }) => channel)
  const oldest: OldestWaiting = { ingest: await read.oldestNews() }
  for (const queue of QUEUES) oldest[queue] = await read.oldestStep(queue, closed)
  return oldest
}
