import { closeSync, openSync, readSync, statSync } from 'node:fs'

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
     * Throws `FileReplaced` if a file was removed, replaced or overwritten while open: writes to it would still succeed,
     * and be lost when the process ends. It goes on if that very file is put back. A database written over it is not
     * noticed if it has seen as many changes and schemas.
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
