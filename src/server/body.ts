import type { IncomingMessage } from 'node:http'
import { giveBack, type MemoryBudget } from './memory.ts'
import { AT_ONCE_BYTES, type RateLimiter } from './rate-limiter.ts'

export type Body =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'too-large' }
  /** the memory budget is used up, and this body was the largest */
  | { kind: 'no-room' }
  /** the connection ended before the body did */
  | { kind: 'aborted' }

interface BodyLimits {
  bytesMax: number
  /** how fast large bodies are read */
  rateLimiter: RateLimiter
  /** what all bodies of senders that are not yet known may take together */
  memory?: MemoryBudget
}

/** The length that a request announces; 0: none. */
export const announcedBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

/** Reads a request's body. Of one that announces or has more than `bytesMax` nothing more is read. Never rejects. */
export function readBody(request: IncomingMessage, { bytesMax, rateLimiter, memory }: BodyLimits): Promise<Body> {
  if (announcedBytes(request) > bytesMax) return Promise.resolve({ kind: 'too-large' })
  return new Promise((resolve) => {
    const body = createCollected(announcedBytes(request))
    const place = memory?.enter(() => stop({ kind: 'no-room' }))
    // Most bodies are small: the limiter is asked only for larger ones.
    let tookOf: ((bytes: number) => void) | null = null
    request.on('data', take)
    request.on('end', () => end({ kind: 'whole', bytes: body.bytes() }))
    request.on('error', () => stop({ kind: 'aborted' }))
    request.on('close', () => end({ kind: 'aborted' }))

    function take(piece: Buffer): void {
      const lengthBytes = body.lengthBytes + piece.length
      if (lengthBytes > bytesMax) return stop({ kind: 'too-large' })
      if (lengthBytes > AT_ONCE_BYTES) {
        tookOf ??= openAfter(body.lengthBytes)
        tookOf(piece.length)
      }
      body.add(piece)
      place?.holds(body.takenBytes)
    }

    function openAfter(bytes: number): (bytes: number) => void {
      const took = rateLimiter.open(request)
      took(bytes)
      return took
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

/** The pieces of a body, in one buffer. */
interface Collected {
  /** The piece is taken over: nothing may read it any more. */
  add(piece: Buffer): void
  /** bytes of memory that it takes: at most the announced length, or twice what has come */
  readonly takenBytes: number
  readonly lengthBytes: number
  bytes(): Buffer
  /** Frees the memory. */
  drop(): void
}

/**
 * Collects pieces into one buffer: a million pieces of one byte take no more memory than one piece of a million.
 * @param expectedBytes the length that the request announces, at most what would be kept
 */
export function createCollected(expectedBytes = 0): Collected {
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
    add(piece) {
      const sum = length + piece.length
      // Most bodies are one piece, which is kept as it is.
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
