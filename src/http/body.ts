import type { IncomingMessage } from 'node:http'
import type { BodyQueue } from './body-queue.ts'

export type Body =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'too-large' }
  /** it had to make room for another body */
  | { kind: 'no-room' }
  /** the connection ended before the body did */
  | { kind: 'aborted' }

/** The `content-length` of a request; 0 if it has none. */
export const announcedBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined

/** Whether the request has been read completely. */
export const isWhole = (request: IncomingMessage): boolean =>
  request.complete || (announcedBytes(request) === 0 && !isChunked(request))

/**
 * Reads a request's body when its turn in the queue comes. Stops reading if it announces or has more than `bytesMax`.
 * Never rejects.
 */
export function readBody(
  request: IncomingMessage,
  { bytesMax, queue }: { bytesMax: number; queue: BodyQueue },
): Promise<Body> {
  if (announcedBytes(request) > bytesMax) return Promise.resolve({ kind: 'too-large' })
  if (request.destroyed) return Promise.resolve({ kind: 'aborted' })
  return new Promise((resolve) => {
    const body = createBodyBuffer(announcedBytes(request))
    const bytes = isChunked(request) ? bytesMax : announcedBytes(request)
    const leave = queue.enter(request.socket.remoteAddress ?? '', bytes, {
      begin: () => request.on('data', take),
      giveUp: () => stop({ kind: 'no-room' }),
    })
    request.on('end', () => end({ kind: 'whole', bytes: body.bytes() }))
    request.on('error', () => stop({ kind: 'aborted' }))
    request.on('close', () => end({ kind: 'aborted' }))

    function take(piece: Buffer): void {
      if (body.lengthBytes + piece.length > bytesMax) stop({ kind: 'too-large' })
      else body.add(piece)
    }

    function stop(ended: Body): void {
      request.off('data', take)
      request.pause()
      body.drop()
      end(ended)
    }

    function end(ended: Body): void {
      leave()
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

/** Smaller buffers are not worth the call: the next minor garbage collection frees them. */
const WORTH_BYTES = 16 * 1024

/**
 * Frees the memory of a buffer at once; nothing may read it any more. V8 lets memory outside its heap grow by 64 MB
 * before it collects garbage.
 */
export function giveBack({ length, buffer }: Buffer): void {
  // Small buffers share a pool, which others may still read.
  if (length >= WORTH_BYTES && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
