import { giveBack } from './give-back.ts'

/** A body that comes in pieces. */
export interface Collected {
  /** The piece is taken over: nothing may be read of it any more. */
  add(piece: Buffer): void
  /** bytes of memory that it takes; never much more than what was announced, or twice what has come */
  readonly takenBytes: number
  readonly lengthBytes: number
  bytes(): Buffer
  /** Gives the memory back: nobody will look at it any more. */
  drop(): void
}

/**
 * Collects pieces into one stretch of memory: a million pieces of one byte take no more than one piece of a million.
 * @param announcedBytes so much will come, as was said, and not more than whoever asks would keep: room for it is made at once
 */
export function createCollected(announcedBytes = 0): Collected {
  let held: Buffer = Buffer.alloc(0)
  let length = 0

  function makeRoom(needed: number): void {
    if (needed <= held.length) return
    const larger = Buffer.allocUnsafe(needed <= announcedBytes ? announcedBytes : Math.max(needed, held.length * 2))
    held.copy(larger, 0, 0, length)
    giveBack(held)
    held = larger
  }

  return {
    add(piece) {
      const sum = length + piece.length
      // Most bodies are one piece, and stay where they are.
      if (length === 0) held = piece
      else {
        makeRoom(sum)
        piece.copy(held, length)
        giveBack(piece)
      }
      length = sum
    },
    get takenBytes() {
      return held.length
    },
    get lengthBytes() {
      return length
    },
    bytes: () => held.subarray(0, length),
    drop() {
      giveBack(held)
      held = Buffer.alloc(0)
      length = 0
    },
  }
}
