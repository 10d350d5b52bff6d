import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { AT_ONCE_BYTES, createRateLimiter, LARGE_BYTES_PER_S } from '../../src/server/rate-limiter.ts'
import { createHandClock } from '../support/hand-clock.ts'

const PIECE_BYTES = 32 * 1024
/** A piece is paid for after so long. */
const PIECE_MS = (PIECE_BYTES * 1_000) / LARGE_BYTES_PER_S

function open() {
  const clock = createHandClock(0)
  const measure = () => createRateLimiter({ clock, running: clock.now })
  const shared = measure()
  /** A body of so many pieces, all of which have come, read as the endpoint reads it. */
  function send(pieces: number, trickle = shared) {
    const body = new PassThrough({ highWaterMark: PIECE_BYTES * pieces })
    for (let n = 0; n < pieces; n++) body.write(Buffer.alloc(PIECE_BYTES))
    // Where a request was answered before it was read, only its connection says that it is over.
    const socket = new EventEmitter()
    const read = { bytes: 0, goAway: () => socket.emit('close') }
    const took = trickle.open(Object.assign(body, { socket }))
    body.on('data', ({ length }: Buffer) => {
      read.bytes += length
      took(length)
    })
    return read
  }
  return { clock, measure, shared, send }
}

describe('a body', () => {
  it('is taken as it comes while it is as small as what people send', async () => {
    const { clock, send } = open()
    const read = send(AT_ONCE_BYTES / PIECE_BYTES)
    await clock.settle()
    expect(read.bytes).toBe(AT_ONCE_BYTES)
  })

  it('is read at its measure from there on, however much has come', async () => {
    const { clock, send } = open()
    const read = send(100)
    await clock.settle()
    const atOnce = AT_ONCE_BYTES + PIECE_BYTES
    expect(read.bytes).toBe(atOnce)
    await clock.advance(10 * PIECE_MS)
    expect(read.bytes).toBe(atOnce + 10 * PIECE_BYTES)
    await clock.advance(100 * PIECE_MS)
    expect(read.bytes).toBe(100 * PIECE_BYTES)
  })

  it('shares the measure with what others send, each in turn', async () => {
    const { clock, send } = open()
    const reads = [send(100), send(100), send(100), send(100)]
    await clock.settle()
    const before = reads.map(({ bytes }) => bytes)
    await clock.advance(40 * PIECE_MS)
    expect(reads.map(({ bytes }, i) => (bytes - before[i]!) / PIECE_BYTES)).toEqual([10, 10, 10, 10])
  })

  it('that is small is not held up by what is large', async () => {
    const { clock, send } = open()
    const [large, small] = [send(100), send(1)]
    await clock.settle()
    expect([large.bytes < 100 * PIECE_BYTES, small.bytes]).toEqual([true, PIECE_BYTES])
  })

  it('has no credit for the time when nobody sent', async () => {
    const { clock, send } = open()
    await clock.advance(60_000)
    const read = send(100)
    await clock.advance(10 * PIECE_MS)
    expect(read.bytes).toBe(AT_ONCE_BYTES + 11 * PIECE_BYTES)
  })

  it('whose sender goes before its turn leaves nothing that others would wait for', async () => {
    const { clock, send } = open()
    const gone = Array.from({ length: 200 }, () => send(2))
    await clock.settle()
    for (const { goAway } of gone) goAway()
    const read = send(100)
    await clock.advance(10 * PIECE_MS)
    // Only the one whose turn it was when it went has still been waited for.
    expect(read.bytes).toBe(AT_ONCE_BYTES + 10 * PIECE_BYTES)
  })

  it('waits for nobody whose bodies have another measure', async () => {
    const { clock, measure, send } = open()
    const others = Array.from({ length: 20 }, () => send(100))
    const read = send(100, measure())
    await clock.advance(10 * PIECE_MS)
    expect(read.bytes).toBe(AT_ONCE_BYTES + 11 * PIECE_BYTES)
    expect(Math.max(...others.map(({ bytes }) => bytes))).toBeLessThan(AT_ONCE_BYTES + 3 * PIECE_BYTES)
  })
})

describe('what has come before it could be refused', () => {
  const CONNECTION = () => new EventEmitter()

  it('is waited for, each in its turn, unless it is small', async () => {
    const { clock, shared } = open()
    const order: string[] = []
    const wait = (name: string, bytes: number) => void shared.turnOf(CONNECTION(), bytes).then(() => order.push(name))
    wait('large', 2 * PIECE_BYTES)
    wait('large too', 2 * PIECE_BYTES)
    wait('small', AT_ONCE_BYTES)
    await clock.settle()
    expect(order).toEqual(['small'])
    await clock.advance(2 * PIECE_MS)
    expect(order).toEqual(['small', 'large'])
    await clock.advance(2 * PIECE_MS)
    expect(order).toEqual(['small', 'large', 'large too'])
  })

  it('is waited for no longer when its connection has closed', async () => {
    const { clock, shared } = open()
    const [connection, last] = [CONNECTION(), { isOver: false }]
    void shared.turnOf(CONNECTION(), 2 * PIECE_BYTES)
    const waiting = shared.turnOf(connection, 100 * PIECE_BYTES)
    void shared.turnOf(CONNECTION(), 2 * PIECE_BYTES).then(() => (last.isOver = true))
    connection.emit('close')
    await waiting
    await clock.advance(4 * PIECE_MS)
    expect(last.isOver).toBe(true)
  })
})
