import type { IncomingMessage } from 'node:http'
import { createCollected } from '../lib/collected.ts'
import type { Trickle } from '../lib/trickle.ts'

/** The largest delivery that is read. */
export const BODY_BYTES_MAX = 256 * 1024

export type Body = { kind: 'whole'; bytes: Buffer } | { kind: 'too-large'; bytesMax: number } | { kind: 'aborted' }

/** Reads a request's body, at most BODY_BYTES_MAX; of a larger one nothing more is read. */
export function readBody(request: IncomingMessage, trickle: Trickle): Promise<Body> {
  const announcedBytes = Number(request.headers['content-length'] ?? 0)
  if (announcedBytes > BODY_BYTES_MAX) return Promise.resolve(TOO_LARGE)
  return new Promise((resolve) => {
    const collected = createCollected(announcedBytes)
    const tookOf = trickle.open(request)
    request.on('data', (piece: Buffer) => {
      if (collected.lengthBytes + piece.length > BODY_BYTES_MAX) return stop(TOO_LARGE)
      tookOf(piece.length)
      collected.add(piece)
    })
    request.on('end', () => resolve({ kind: 'whole', bytes: collected.bytes() }))
    request.on('error', () => stop({ kind: 'aborted' }))
    request.on('close', () => resolve({ kind: 'aborted' }))

    function stop(body: Body): void {
      request.removeAllListeners('data')
      request.pause()
      collected.drop()
      resolve(body)
    }
  })
}

const TOO_LARGE: Body = { kind: 'too-large', bytesMax: BODY_BYTES_MAX }
