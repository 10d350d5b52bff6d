import { writeSync } from 'node:fs'
import { errorCode } from '../lib/error-code.ts'

const STDOUT = 1

/** A reader that is behind is waited for this long; then lines are dropped until it takes one again. */
const PATIENCE_MS_MAX = 1_000
const AGAIN_AFTER_MS = 10

/**
 * Where the log goes, a line at a time, written when `write` returns. A reader that has gone away, or that reads no more,
 * keeps nobody waiting: not the process that wants to end, nor whoever knocks.
 */
export function standardOutput(write: (line: Uint8Array) => number = openStdout()) {
  let isRead = true
  let isBehind = false

  /** False: not all of it is written, and it was dropped. */
  function writeWhole(line: Uint8Array): boolean {
    let left = line
    for (let waitedMs = 0; left.length > 0;) {
      try {
        left = left.subarray(write(left))
      } catch (error) {
        if (errorCode(error) !== 'EAGAIN') throw error
        if (isBehind || waitedMs >= PATIENCE_MS_MAX) return false
        waitedMs += AGAIN_AFTER_MS
        pause(AGAIN_AFTER_MS)
      }
    }
    return true
  }

  return {
    write(line: string): void {
      if (!isRead) return
      try {
        isBehind = !writeWhole(Buffer.from(line))
      } catch {
        // There is nowhere left to say so.
        isRead = false
      }
    },
  }
}

/** Node lets a pipe refuse what it cannot take once its stream was asked for; before that it would hold us up for ever. */
function openStdout(): (line: Uint8Array) => number {
  const { writable } = process.stdout
  return (line) => (writable ? writeSync(STDOUT, line) : line.length)
}

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
