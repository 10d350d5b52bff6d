import type { IncomingMessage } from 'node:http'
import { createCollected, type Collected } from '../../../server/collected.ts'
import { giveBack } from '../../../server/give-back.ts'
import { AT_ONCE_BYTES, type RateLimiter } from '../../../server/rate-limiter.ts'

/** The largest delivery that is read. */
export const BODY_BYTES_MAX = 256 * 1024

export type Body = { kind: 'whole'; bytes: Buffer } | { kind: 'too-large'; bytesMax: number } | { kind: 'aborted' }

/** Reads a request's body, at most BODY_BYTES_MAX; of a larger one nothing more is read. */
export function readBody(request: IncomingMessage, trickle: RateLimiter): Promise<Body> {
  const announcedBytes = Number(request.headers['content-length'] ?? 0)
  if (announcedBytes > BODY_BYTES_MAX) return Promise.resolve(TOO_LARGE)
  return new Promise((resolve) => {
    // Most bodies are one piece, and small: what larger ones need is made where it is needed.
    let first: Buffer | null = null
    let collected: Collected | null = null
    let tookOf: ((bytes: number) => void) | null = null
    let length = 0
    request.on('data', (piece: Buffer) => {
      if (length + piece.length > BODY_BYTES_MAX) return stop(TOO_LARGE)
      if (length + piece.length > AT_ONCE_BYTES) {
        tookOf ??= openAfter(length)
        tookOf(piece.length)
      }
      length += piece.length
      if (first === null) first = piece
      else {
        collected ??= collect(first)
        collected.add(piece)
      }
    })
    request.on('end', () => resolve({ kind: 'whole', bytes: collected?.bytes() ?? first ?? Buffer.alloc(0) }))
    request.on('error', () => stop({ kind: 'aborted' }))
    request.on('close', () => resolve({ kind: 'aborted' }))

    function openAfter(bytes: number): (bytes: number) => void {
      const took = trickle.open(request)
      took(bytes)
      return took
    }

    function collect(piece: Buffer): Collected {
      const begun = createCollected(announcedBytes)
      begun.add(piece)
      return begun
    }

    function stop(body: Body): void {
      request.removeAllListeners('data')
      request.pause()
      if (collected) collected.drop()
      else if (first) giveBack(first)
      resolve(body)
    }
  })
}

const TOO_LARGE: Body = { kind: 'too-large', bytesMax: BODY_BYTES_MAX }
