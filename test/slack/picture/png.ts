import { inflateSync } from 'node:zlib'

export interface Pixels {
  width: number
  height: number
  /** red, green, blue and alpha of each pixel, row by row */
  rgba: Uint8Array
}

const HEADER_BYTES = 8
const PIXEL_BYTES = 4

/** Reads a PNG with four channels of eight bits, not interlaced, which is what the bot draws. */
export function readPng(png: Uint8Array): Pixels {
  const view = Buffer.from(png)
  const parts: Buffer[] = []
  for (let at = HEADER_BYTES; at < view.length; at += 12 + view.readUInt32BE(at)) {
    if (view.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(view.subarray(at + 8, at + 8 + view.readUInt32BE(at)))
  }
  const width = view.readUInt32BE(16)
  const height = view.readUInt32BE(20)
  if (view.readUInt32BE(24) !== 0x08060000) throw new Error('not a PNG of the kind that is read here')
  return { width, height, rgba: unfilter(inflateSync(Buffer.concat(parts)), width * PIXEL_BYTES, height) }
}

function unfilter(raw: Uint8Array, rowBytes: number, rows: number): Uint8Array {
  const out = new Uint8Array(rowBytes * rows)
  for (let row = 0; row < rows; row += 1) {
    const filter = raw[row * (rowBytes + 1)]
    for (let at = 0; at < rowBytes; at += 1) {
      const to = row * rowBytes + at
      const left = at < PIXEL_BYTES ? 0 : out[to - PIXEL_BYTES]!
      const up = row === 0 ? 0 : out[to - rowBytes]!
      const upLeft = row === 0 || at < PIXEL_BYTES ? 0 : out[to - rowBytes - PIXEL_BYTES]!
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, upLeft)][filter ?? -1]
      if (guess === undefined) throw new Error('a broken PNG')
      out[to] = raw[row * (rowBytes + 1) + 1 + at]! + guess
    }
  }
  return out
}

function paeth(left: number, up: number, upLeft: number): number {
  const guess = left + up - upLeft
  const far = [left, up, upLeft].map((each) => Math.abs(guess - each))
  const nearest = far.indexOf(Math.min(...far))
  return [left, up, upLeft][nearest]!
}
