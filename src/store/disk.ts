import { closeSync, openSync, readSync, statSync, fdatasync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** The format stays; the numbers of changes and of schemas only grow. Source: SQLite, "Database File Format". */
const HEADER_BYTES = 44
const FORMAT = [0, 24] as const
const GROWING_AT = [24, 40] as const

/**
 * The place of a database file that is open. Its file must exist.
 * @param paths the database, and then its other files
 */
export function createPlace(paths: readonly [database: string, ...others: string[]]) {
  const inodes = new Map<string, number>()
  // Stays open until the database is closed: closing it would release SQLite's own locks on the file.
  let file: number | null = openSync(paths[0], 'r')
  let known: Buffer | null = null

  function checkInodes(): void {
    for (const path of paths) {
      const inode = statSync(path, { throwIfNoEntry: false })?.ino
      if (inodes.has(path) && inodes.get(path) !== inode) throw new FileReplaced()
      if (inode !== undefined) inodes.set(path, inode)
    }
  }

  function checkHeader(): void {
    const header = Buffer.alloc(HEADER_BYTES)
    const isWhole = file !== null && readSync(file, header, 0, HEADER_BYTES, 0) === HEADER_BYTES
    if (known && !(isWhole && isSame(known, header))) throw new FileReplaced()
    if (isWhole) known = header
  }

  return {
    /**
     * Throws `FileReplaced` if a file was removed, replaced or overwritten while open: writes to it would still
     * succeed, and be lost when the process ends. Works again if that same file is put back. A database written over it
     * is not noticed if it has the same numbers of changes and schemas.
     */
    check(): void {
      checkInodes()
      checkHeader()
    },
    /** Only after the database is closed. */
    close(): void {
      if (file !== null) closeSync(file)
      file = null
    },
  }
}

const isSame = (known: Buffer, header: Buffer): boolean =>
  known.subarray(...FORMAT).equals(header.subarray(...FORMAT)) &&
  GROWING_AT.every((at) => header.readUInt32BE(at) >= known.readUInt32BE(at))

/** The database file was removed, replaced or overwritten while it was in use. */
export class FileReplaced extends Error {
  constructor() {
    super(
      'the database file was removed, replaced or overwritten while it was in use: put it back, or start Buildline again',
    )
  }
}

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
      if (merged?.['busy'] !== 0) throw busy('the log of the database cannot be merged: another process is reading it')
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
