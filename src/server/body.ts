import type { IncomingMessage } from 'node:http'
import { giveBack, type MemoryBudget } from './memory.ts'
import { AT_ONCE_BYTES, type RateLimiter } from './rate-limiter.ts'

export type Body =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'too-large' }
  /** the memory budget is exhausted, and this body was the largest */
  | { kind: 'no-room' }
  /** the connection ended before the body did */
  | { kind: 'aborted' }

interface BodyLimits {
  bytesMax: number
  /** limits how fast large bodies are read */
  rateLimiter: RateLimiter
  /** the memory that all bodies of unverified senders share */
  memory?: MemoryBudget
}

/** The `content-length` of a request; 0 if it has none. */
export const announcedBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

/** Reads a request's body. Stops reading if it announces or has more than `bytesMax`. Never rejects. */
export function readBody(request: IncomingMessage, { bytesMax, rateLimiter, memory }: BodyLimits): Promise<Body> {
  if (announcedBytes(request) > bytesMax) return Promise.resolve({ kind: 'too-large' })
  return new Promise((resolve) => {
    const body = createBodyBuffer(announcedBytes(request))
    const place = memory?.enter(() => stop({ kind: 'no-room' }))
    // Most bodies are small. The rate limiter is opened only for larger ones.
    let countBytes: ((bytes: number) => void) | null = null
    request.on('data', take)
    request.on('end', () => end({ kind: 'whole', bytes: body.bytes() }))
    request.on('error', () => stop({ kind: 'aborted' }))
    request.on('close', () => end({ kind: 'aborted' }))

    function take(piece: Buffer): void {
      const lengthBytes = body.lengthBytes + piece.length
      if (lengthBytes > bytesMax) return stop({ kind: 'too-large' })
      if (lengthBytes > AT_ONCE_BYTES) {
        countBytes ??= openAfter(body.lengthBytes)
        countBytes(piece.length)
      }
      body.add(piece)
      place?.holds(body.takenBytes)
    }

    function openAfter(bytes: number): (bytes: number) => void {
      const count = rateLimiter.open(request)
      count(bytes)
      return count
    }

    function stop(ended: Body): void {
      request.off('data', take)
      request.pause()
      body.drop()
      end(ended)
    }

    function end(ended: Body): void {
      place?.leave()
      resolve(ended)
    }
  })
}

/**
 * Collects pieces into one buffer: a million pieces of one byte take no more memory than one piece of a million.
 * @param expectedBytes the announced length, if it is within the limit
 */
export function createBodyBuffer(expectedBytes = 0) {
  let held: Buffer = Buffer.alloc(0)
  let length = 0

  function makeRoom(needed: number): void {
    if (needed <= held.length) return
    const larger = Buffer.allocUnsafe(needed <= expectedBytes ? expectedBytes : Math.max(needed, held.length * 2))
    held.copy(larger, 0, 0, length)
    giveBack(held)
    held = larger
  }

  return {
    /** Takes over the piece: the caller must not read it any more. */
    add(piece: Buffer): void {
      const sum = length + piece.length
      // Most bodies come in one piece, which is kept without a copy.
      if (length === 0) held = piece
      else {
        makeRoom(sum)
        piece.copy(held, length)
        giveBack(piece)
      }
      length = sum
    },
    /** Bytes of memory in use: at most the announced length, or twice what has been received. */
    get takenBytes() {
      return held.length
    },
    get lengthBytes() {
      return length
    },
    bytes: () => held.subarray(0, length),
    /** Frees the memory. */
    drop(): void {
      giveBack(held)
      held = Buffer.alloc(0)
      length = 0
    },
  }
}
