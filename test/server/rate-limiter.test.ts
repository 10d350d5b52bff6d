import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { AT_ONCE_BYTES, createRateLimiter, LARGE_BYTES_PER_S } from '../../src/server/rate-limiter.ts'
import { createHandClock } from '../support/hand-clock.ts'

const PIECE_BYTES = 32 * 1024
/** The time that one piece takes at the limit. */
const PIECE_MS = (PIECE_BYTES * 1_000) / LARGE_BYTES_PER_S

function open() {
  const clock = createHandClock(0)
  const measure = () => createRateLimiter({ clock, running: clock.now })
  const shared = measure()
  /** A body of so many pieces, all of which have arrived, read as the endpoint reads it. */
  function send(pieces: number, trickle = shared) {
    const body = new PassThrough({ highWaterMark: PIECE_BYTES * pieces })
    for (let n = 0; n < pieces; n++) body.write(Buffer.alloc(PIECE_BYTES))
    // After an early answer, only the connection's end shows that the request is over.
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
  it("is read as it arrives as long as it is as small as people's requests", async () => {
    const { clock, send } = open()
    const read = send(AT_ONCE_BYTES / PIECE_BYTES)
    await clock.settle()
    expect(read.bytes).toBe(AT_ONCE_BYTES)
  })

  it('is read at the limited rate beyond that, however much has arrived', async () => {
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

  it('shares the rate with other bodies, in turn', async () => {
    const { clock, send } = open()
    const reads = [send(100), send(100), send(100), send(100)]
    await clock.settle()
    const before = reads.map(({ bytes }) => bytes)
    await clock.advance(40 * PIECE_MS)
    expect(reads.map(({ bytes }, i) => (bytes - before[i]!) / PIECE_BYTES)).toEqual([10, 10, 10, 10])
  })

  it('that is small does not wait for large ones', async () => {
    const { clock, send } = open()
    const [large, small] = [send(100), send(1)]
    await clock.settle()
    expect([large.bytes < 100 * PIECE_BYTES, small.bytes]).toEqual([true, PIECE_BYTES])
  })

  it('gets no credit for idle time', async () => {
    const { clock, send } = open()
    await clock.advance(60_000)
    const read = send(100)
    await clock.advance(10 * PIECE_MS)
    expect(read.bytes).toBe(AT_ONCE_BYTES + 11 * PIECE_BYTES)
  })

  it('whose sender leaves before its turn leaves nothing for others to wait for', async () => {
    const { clock, send } = open()
    const gone = Array.from({ length: 200 }, () => send(2))
    await clock.settle()
    for (const { goAway } of gone) goAway()
    const read = send(100)
    await clock.advance(10 * PIECE_MS)
    // Only the body whose turn it was is still waited for.
    expect(read.bytes).toBe(AT_ONCE_BYTES + 10 * PIECE_BYTES)
  })

  it('with its own limit does not wait for bodies with another one', async () => {
    const { clock, measure, send } = open()
    const others = Array.from({ length: 20 }, () => send(100))
    const read = send(100, measure())
    await clock.advance(10 * PIECE_MS)
    expect(read.bytes).toBe(AT_ONCE_BYTES + 11 * PIECE_BYTES)
    expect(Math.max(...others.map(({ bytes }) => bytes))).toBeLessThan(AT_ONCE_BYTES + 3 * PIECE_BYTES)
  })
})

describe('a request that arrives completely before it can be refused', () => {
  const CONNECTION = () => new EventEmitter()

  it('waits its turn unless it is small', async () => {
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

  it('does not wait any more after its connection has closed', async () => {
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
