import { closeSync, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** Puts SQLite's write-ahead log on the disk. */
export interface LogOnDisk {
  /** Resolves when everything committed is on the disk. Does not block the thread. */
  sync(): Promise<void>
  /**
   * Call it before each transaction. If a sync has failed, part of the log may not be on the disk, and SQLite would
   * recover nothing written after that part. So the log is merged into the file first. Throws while that fails.
   */
  mend(): void
  close(): void
}

/** Calls `done` when what was written to the open file is on the disk. */
export type ToDisk = (file: number, done: (error: Error | null) => void) => void

/**
 * By itself, SQLite would sync within the commit and block our thread. With `synchronous=NORMAL` it syncs only when it
 * merges the log, and a thread of the pool syncs each commit that must last. SQLite holds no lock on the log's own
 * file, so that closing it here releases none.
 * @param path the log's path
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
      if (merged?.['busy'] !== 0) throw busy('the log of the database cannot be merged: somebody else reads it')
      isWhole = true
    },
    close() {
      if (file !== null) closeSync(file)
      file = null
    },
  }
}

const [SQLITE_BUSY, SQLITE_LOCKED] = [5, 6]

const busy = (message: string) => Object.assign(new Error(message), { errcode: SQLITE_BUSY })

/** Whether another process holds the lock. The higher bits of `errcode` hold the details. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && [SQLITE_BUSY, SQLITE_LOCKED].includes(Number(error.errcode) & 0xff)

const [SQLITE_IOERR, SQLITE_FULL] = [10, 13]

/** Whether the disk is at fault: it is full, or fails. */
export const isDiskFault = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && [SQLITE_IOERR, SQLITE_FULL].includes(Number(error.errcode) & 0xff)
