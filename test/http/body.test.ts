import { describe, expect, it } from 'vitest'
import { createBodyBuffer } from '../../src/http/body.ts'

function collect(text: string, pieceBytes: number) {
  const collected = createBodyBuffer()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) collected.add(bytes.subarray(at, at + pieceBytes))
  return collected
}

describe('a body that arrives in pieces', () => {
  const text = Array.from({ length: 5_000 }, (_, n) => `${n},`).join('')

  it.each([1, 2, 7, 4_096, 1_000_000])('of %s bytes is what was sent', (pieceBytes) => {
    const collected = collect(text, pieceBytes)
    expect(collected.bytes().toString()).toBe(text)
    expect(collected.lengthBytes).toBe(text.length)
  })

  it('takes at most twice the memory of what has arrived, even for tiny pieces', () => {
    for (const length of [1, 2, 3, 1_000, 65_537])
      expect(collect('x'.repeat(length), 1).takenBytes).toBeLessThanOrEqual(2 * length)
  })

  it('takes the announced memory once it arrives in pieces, and no more', () => {
    const collected = createBodyBuffer(100_000)
    collected.add(Buffer.alloc(10))
    expect(collected.takenBytes).toBe(10)
    collected.add(Buffer.alloc(10))
    expect(collected.takenBytes).toBe(100_000)
    collected.add(Buffer.alloc(99_980))
    expect(collected.takenBytes).toBe(100_000)
    expect(collected.bytes()).toHaveLength(100_000)
  })

  it('may be longer than announced', () => {
    const collected = createBodyBuffer(3)
    for (const piece of ['ab', 'cd', 'ef']) collected.add(Buffer.from(piece))
    expect(collected.bytes().toString()).toBe('abcdef')
  })

  it('does not share memory with the neighbours of its first piece', () => {
    const shared = Buffer.from('abcdef')
    const collected = createBodyBuffer()
    collected.add(shared.subarray(0, 3))
    collected.add(Buffer.from('xyz'))
    expect(shared.toString()).toBe('abcdef')
    expect(collected.bytes().toString()).toBe('abcxyz')
  })

  it('that never arrives is empty', () => {
    expect(createBodyBuffer().bytes()).toHaveLength(0)
  })
})
