import type { IncomingMessage } from 'node:http'
import { createCollected } from '../../server/collected.ts'
import type { RateLimiter } from '../../server/rate-limiter.ts'
import type { Room } from './memory-budget.ts'

/** The largest request that is read; the largest form that Slack can send, every letter of it escaped, is smaller. */
export const BODY_BYTES_MAX = 4 * 1024 * 1024

export type Body = { kind: 'whole'; bytes: Buffer } | { kind: 'too-large' } | { kind: 'no-room' } | { kind: 'aborted' }

export const announcesTooMuch = (request: IncomingMessage, bytesMax: number): boolean =>
  announcedBytes(request) > bytesMax

const announcedBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

/** What all bodies that are not yet known to be Slack's share. */
export interface Shared {
  room: Room
  trickle: RateLimiter
}

/** Reads a body of at most `bytesMax`, as long as there is room for it. */
export function readBody(request: IncomingMessage, bytesMax: number, { room, trickle }: Shared): Promise<Body> {
  return new Promise((resolve) => {
    const body = createCollected(Math.min(announcedBytes(request), bytesMax))
    const place = room.enter(() => stop({ kind: 'no-room' }))
    const tookOf = trickle.open(request)
    request.on('data', take)
    request.on('end', () => end({ kind: 'whole', bytes: body.bytes() }))
    request.on('error', () => stop({ kind: 'aborted' }))
    request.on('close', () => end({ kind: 'aborted' }))

    function take(piece: Buffer): void {
      if (body.lengthBytes + piece.length > bytesMax) return stop({ kind: 'too-large' })
      tookOf(piece.length)
      body.add(piece)
      place.holds(body.takenBytes)
    }

    function stop(ended: Body): void {
      request.off('data', take)
      request.pause()
      body.drop()
      end(ended)
    }

    function end(ended: Body): void {
      place.leave()
      resolve(ended)
    }
  })
}
