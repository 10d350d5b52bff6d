import type { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { isBusy, type LogOnDisk } from './disk.ts'
import type { Tx } from './store.ts'

/** Writes that share one transaction: enough to make the fsync cheap, few enough to keep the event loop moving. */
const BATCH_MAX = 128

/** If a batch takes longer, because of slow writes, the rest waits for the next turn of the event loop. */
const BATCH_MAX_MS = 10

/** Retry interval while another process (a backup, a shell) holds the lock; for two seconds. */
const LOCK_AGAIN_MS = 50
const LOCK_TRIES_MAX = 40

interface Waiting {
  work: (tx: Tx) => Promise<unknown>
  canBeRedone: boolean
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

/** Whether one of the writes could not be redone, and so has to be on disk before its caller is answered. */
const mustSync = (batch: readonly Waiting[]): boolean => batch.some(({ canBeRedone }) => !canBeRedone)

/**
 * Group commit: writes that arrive while others are being written share one transaction and one sync. If one of them
 * throws, the batch is rolled back and each write is run again alone, so that only the faulty one fails.
 * @param checkPlace throws if the database file was removed, replaced or overwritten, so that writes would be lost
 */
export function gather(
  db: DatabaseSync,
  tx: Tx,
  {
    log,
    checkPlace,
    begun,
    written,
    batchMaxMs = BATCH_MAX_MS,
  }: {
    log: LogOnDisk
    checkPlace: () => void
    /** called when a transaction begins, and after what it wrote is on disk */
    begun: () => void
    written: () => void
    batchMaxMs?: number | undefined
  },
) {
  const queue: Waiting[] = []
  let draining: Promise<void> | null = null
  let isEnded = false

  async function drain(): Promise<void> {
    // Wait for one turn of the event loop, so that more writes can join the first batch.
    await new Promise(setImmediate)
    while (queue.length > 0) {
      const batch = queue.splice(0, BATCH_MAX)
      const refused = await begin(batch)
      if (refused) batch.forEach(({ reject }) => reject(refused.error))
      else if (!(await commit(batch))) await commitEach(batch)
      await new Promise(setImmediate)
    }
    draining = null
  }

  async function commitEach(batch: readonly Waiting[]): Promise<void> {
    for (const one of batch) {
      const refused = await begin([one])
      if (refused) one.reject(refused.error)
      else await commit([one])
    }
  }

  /** Waits while another process holds the lock. @returns why the batch could not begin; null: it has begun */
  async function begin(batch: readonly Waiting[]): Promise<{ error: unknown } | null> {
    for (let tries = 1; ; tries++) {
      try {
        if (mustSync(batch)) checkPlace()
        log.mend()
        db.exec('begin immediate')
        begun()
        return null
      } catch (error) {
        if (tries === LOCK_TRIES_MAX || !isBusy(error)) return { error }
        await setTimeout(LOCK_AGAIN_MS)
      }
    }
  }

  /** Runs a batch and commits it. False: one of several writes threw, and nothing of the batch is written. */
  async function commit(batch: Waiting[]): Promise<boolean> {
    const values: unknown[] = []
    const endsAt = performance.now() + batchMaxMs
    try {
      for (const { work } of batch) {
        values.push(await work(tx))
        if (performance.now() > endsAt) queue.unshift(...batch.splice(values.length))
      }
      db.exec('commit')
    } catch (error) {
      if (db.isOpen && db.isTransaction) db.exec('rollback')
      if (batch.length === 1) batch[0]!.reject(error)
      return batch.length === 1
    }
    await answer(batch, values)
    return true
  }

  /** Answers the callers; first syncs to disk, unless all their writes can be redone from what is stored. */
  async function answer(batch: readonly Waiting[], values: readonly unknown[]): Promise<void> {
    try {
      if (mustSync(batch)) await log.sync()
      batch.forEach(({ resolve }, i) => resolve(values[i] as never))
      written()
    } catch (error) {
      batch.forEach(({ reject }) => reject(error))
    }
  }

  return {
    run: <T>(work: (tx: Tx) => Promise<T>, { canBeRedone = false } = {}): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        if (isEnded) return reject(new Error('the store is closed'))
        queue.push({ work, canBeRedone, resolve, reject })
        draining ??= drain()
      }),
    /** Accepts no more writes; resolves when the accepted ones have ended. */
    end: async (): Promise<void> => {
      isEnded = true
      await draining
    },
  }
}
