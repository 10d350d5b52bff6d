import { closeSync, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** SQLite's write-ahead log, and whether what was committed to it is on the disk. */
export interface LogOnDisk {
  /** Resolves when all that is committed is on the disk. A caller that waits for it keeps nobody else waiting. */
  sync(): Promise<void>
  /**
   * To be asked before more is committed. A log of which a part did not reach the disk is of no use from there on, whatever
   * is written behind it: it is merged into the file first. Throws while that cannot be done.
   */
  mend(): void
  close(): void
}

/** Calls `done` when what was written to the open file is on the disk. */
export type ToDisk = (file: number, done: (error: Error | null) => void) => void

/**
 * SQLite itself would wait for the disk on our thread, within the commit. With `synchronous=NORMAL` it waits only where it
 * merges the log, and we wait for each commit that must last, on a thread of the pool. No lock of SQLite's is on the log's
 * own file, so that closing it here takes none away.
 * @param path the log's
 */
export function createLogOnDisk(db: DatabaseSync, path: string, toDisk: ToDisk = fdatasync): LogOnDisk {
  let file: number | null = null
  let isWhole = true

  return {
    sync: () =>
      new Promise((resolve, reject) => {
        file ??= openSync(path, 'r+')
        toDisk(file, (error) => {
          isWhole &&= error === null
          if (error) reject(error)
          else resolve()
        })
      }),
    mend() {
      if (isWhole) return
      const merged = db.prepare('pragma wal_checkpoint(truncate)').get()
      if (merged?.['busy'] !== 0) throw new Error('the log of the database cannot be merged: somebody else reads it')
      isWhole = true
    },
    close() {
      if (file !== null) closeSync(file)
      file = null
    },
  }
}
