// @ts-check
import { open, stat } from 'node:fs/promises'
import { createCleaner } from './text.js'

const LINES_MAX = 20
/** How much of the file's end is read. */
const BYTES_MAX = 256 * 1024

/**
 * The last lines of a log that are not blank; none if no path is given.
 *
 * @param {string | undefined} path
 * @param {import('./text.js').Mask} mask
 * @param {(line: string) => void} complain
 * @returns {Promise<string[]>}
 */
export async function readLogEnd(path, mask, complain) {
  if (!path) return []
  try {
    const { lines, cut } = createCleaner(mask)
    return lines(await readEnd(path))
      .slice(-LINES_MAX)
      .map(cut)
  } catch {
    complain(`the log ${path} cannot be read; the report goes without it`)
    return []
  }
}

/** @param {string} path */
async function readEnd(path) {
  const status = await stat(path)
  if (!status.isFile()) throw new Error('not a file: reading a pipe could wait forever')
  const from = Math.max(0, status.size - BYTES_MAX)
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BYTES_MAX), 0, BYTES_MAX, from)
    const text = buffer.toString('utf8', 0, bytesRead)
    // The first line may be cut in the middle of a secret, which would not be recognised.
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1 || text.length)
  } finally {
    await file.close()
  }
}
