import type { DatabaseSync } from 'node:sqlite'
import type { Tx } from './store.ts'

/** Writes that share one transaction: enough to make the fsync cheap, few enough to keep the event loop moving. */
const BATCH_MAX = 128

interface Waiting {
  work: (tx: Tx) => Promise<unknown>
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}

/**
 * Group commit: writes that arrive in one turn of the event loop share one transaction and one fsync. When one of them
 * throws, the batch is rolled back and each is run again by itself, so that only the culprit fails.
 */
export function gather(db: DatabaseSync, tx: Tx) {
  const queue: Waiting[] = []
  let draining: Promise<void> | null = null
  let isEnded = false

  async function drain(): Promise<void> {
    // Not at once: whatever else arrives in this turn may still join the first batch.
    await new Promise(setImmediate)
    while (queue.length > 0) {
      const batch = queue.splice(0, BATCH_MAX)
      if (!(await commit(batch))) for (const one of batch) await commit([one])
      await new Promise(setImmediate)
    }
    draining = null
  }

  async function commit(batch: readonly Waiting[]): Promise<boolean> {
    try {
      db.exec('begin immediate')
      const values: unknown[] = []
      for (const { work } of batch) values.push(await work(tx))
      db.exec('commit')
      batch.forEach(({ resolve }, i) => resolve(values[i] as never))
      return true
    } catch (error) {
      if (db.isOpen && db.isTransaction) db.exec('rollback')
      if (batch.length === 1) batch[0]!.reject(error)
      return batch.length === 1
    }
  }

  return {
    run: <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        if (isEnded) return reject(new Error('the store is closed'))
        queue.push({ work, resolve, reject })
        draining ??= drain()
      }),
    /** Takes no more; resolves when what was asked for before is written. */
    end: async (): Promise<void> => {
      isEnded = true
      await draining
    },
  }
}
