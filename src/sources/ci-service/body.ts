import type { Readable } from 'node:stream'

/** A body with more bytes than are read. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
}

/** The whole body. Beyond `bytesMax`: TooLargeError, connection closed. */
export async function wholeBody(body: Readable, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > bytesMax) throw new TooLargeError(`the answer has more than ${bytesMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** The first `bytesMax` bytes, or fewer when the body breaks off: for answers whose status has already said what matters. */
export async function bodyStart(body: Readable, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces.push(piece.subarray(0, bytesMax - bytes))
      bytes += piece.length
      if (bytes >= bytesMax) break
    }
  } catch {
    // What came before the break is what there is.
  }
  return Buffer.concat(pieces)
}

/** As text: invalid UTF-8 replaced, a byte order mark dropped. */
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
