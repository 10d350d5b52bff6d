import type { Clock } from '../lib/clock.ts'
import { certificateFault, errorCode } from '../lib/error-code.ts'
import { isDiskFault, FileReplaced } from './disk.ts'
import type { Store } from './store.ts'
import { QUEUES } from '../domain/cards/plan.ts'

/** A trial write is made at most once in this time, unless the last one, or another write since, has failed. */
const TRIED_EVERY_MS = 5_000

/** The row of `job` in which the trial stores its time. */
const ROW = 'readyz'

interface TrialDeps {
  store: Pick<Store, 'ping' | 'write'>
  clock: Clock
  /** how many writes have failed so far */
  failedWrites: () => number
}

/**
 * Resolves if the database stores a write: one that is full, locked or replaced may still answer a ping. Rejects with
 * the database's error.
 */
export function createStoreTrial({ store, clock, failedWrites }: TrialDeps): () => Promise<void> {
  let last: { at: number; failedWrites: number; end: Promise<void> } | null = null

  function write(): Promise<void> {
    const at = clock.now()
    const end = store.write((tx) => tx.setLastDoneAt(ROW, at))
    last = { at, failedWrites: failedWrites(), end }
    end.catch(() => (last = null))
    return end
  }

  return async () => {
    await store.ping()
    const isValid = last && clock.now() - last.at < TRIED_EVERY_MS && last.failedWrites === failedWrites()
    await (isValid ? last?.end : write())
  }
}

/** Why nothing can be stored. `disk`: it is full or fails; `replaced`: the file is not the one that was opened. */
export type StoreFault = 'disk' | 'replaced' | 'unreachable' | 'certificate'

export function storeFaultOf(error: unknown): StoreFault {
  if (error instanceof FileReplaced) return 'replaced'
  const code = errorCode(error)
  if (certificateFault(code) !== null) return 'certificate'
  return isDiskFault(error) || code === POSTGRES_DISK_FULL ? 'disk' : 'unreachable'
}

const POSTGRES_DISK_FULL = '53100'

/** When the oldest entry of each queue became due (ms); null: the queue is empty. */
export type OldestWaiting = Record<string, number | null>

/** Leaves out cards in closed channels, which wait until a person opens them. */
export async function oldestWaiting({ read }: Pick<Store, 'read'>): Promise<OldestWaiting> {
  const closed = (await read.closedChannels()).map(({ channel }) => channel)
  const oldest: OldestWaiting = { ingest: await read.oldestNews() }
  for (const queue of QUEUES) oldest[queue] = await read.oldestStep(queue, closed)
  return oldest
}
