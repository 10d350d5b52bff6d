import type { IncomingMessage } from 'node:http'
import { createCollected } from '../lib/collected.ts'

/** The largest delivery that is read. */
export const BODY_BYTES_MAX = 256 * 1024

export type Body = { kind: 'whole'; bytes: Buffer } | { kind: 'too-large'; bytesMax: number } | { kind: 'aborted' }

/** Reads a request's body, at most BODY_BYTES_MAX; of a larger one nothing more is read. */
export function readBody(request: IncomingMessage): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) return Promise.resolve(TOO_LARGE)
  return new Promise((resolve) => {
    const collected = createCollected()
    request.on('data', (piece: Buffer) => {
      if (collected.lengthBytes + piece.length <= BODY_BYTES_MAX) collected.add(piece)
      else stop(TOO_LARGE)
    })
    request.on('end', () => resolve({ kind: 'whole', bytes: collected.bytes() }))
    request.on('error', () => stop({ kind: 'aborted' }))
    request.on('close', () => resolve({ kind: 'aborted' }))

    function stop(body: Body): void {
      request.removeAllListeners('data')
      request.pause()
      resolve(body)
    }
  })
}

const TOO_LARGE: Body = { kind: 'too-large', bytesMax: BODY_BYTES_MAX }
