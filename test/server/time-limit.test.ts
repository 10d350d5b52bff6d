import { describe, expect, it } from 'vitest'
import { createTimeLimit } from '../../src/server/time-limit.ts'
import { createHandClock } from '../support/hand-clock.ts'

const LIMIT_MS = 8_000
const LATE = 'no answer within 8000 ms'

const never = () => new Promise<never>(() => {})

/** The state of the work at this time. */
function watch(work: Promise<unknown>) {
  const seen = { end: 'waits' }
  work.then(
    (value) => (seen.end = String(value)),
    (error: unknown) => (seen.end = String(error)),
  )
  return seen
}

function open() {
  const clock = createHandClock(0)
  return { clock, ...createTimeLimit(clock, LIMIT_MS) }
}

describe('work with a time limit', () => {
  it('gives its result or its error', async () => {
    const { inTime } = open()
    await expect(inTime(Promise.resolve('done'))).resolves.toBe('done')
    await expect(inTime(Promise.reject(new Error('the disk is full')))).rejects.toThrow('the disk is full')
  })

  it('is given up at its limit, and not before', async () => {
    const { clock, inTime } = open()
    const one = watch(inTime(never()))
    await clock.advance(LIMIT_MS - 1)
    expect(one.end).toBe('waits')
    await clock.advance(1)
    expect(one.end).toContain(LATE)
  })

  it('may be given up up to 100 ms early if it began just after other work, and has its own limit otherwise', async () => {
    const { clock, inTime } = open()
    const [first] = [watch(inTime(never())), await clock.advance(99)]
    const [second] = [watch(inTime(never())), await clock.advance(1)]
    const third = watch(inTime(never()))
    await clock.advance(LIMIT_MS - 100)
    expect([first, second, third].map(({ end }) => end)).toEqual([
      expect.stringContaining(LATE),
      expect.stringContaining(LATE),
      'waits',
    ])
    await clock.advance(100)
    expect(third.end).toContain(LATE)
  })

  it('has its whole limit if no other work is waiting', async () => {
    const { clock, inTime } = open()
    await inTime(Promise.resolve())
    await clock.advance(50)
    const one = watch(inTime(never()))
    await clock.advance(LIMIT_MS - 1)
    expect(one.end).toBe('waits')
  })

  it('may end in the same moment as others are given up, and is not affected', async () => {
    const { clock, inTime } = open()
    const done = Promise.withResolvers<string>()
    const [one, other] = [watch(inTime(done.promise)), watch(inTime(never()))]
    done.resolve('done')
    await clock.advance(LIMIT_MS)
    expect([one.end, other.end]).toEqual(['done', `Error: ${LATE}`])
  })

  it('is counted until it has ended or was given up', async () => {
    const { clock, inTime, waiting } = open()
    const done = Promise.withResolvers<string>()
    const [one, other] = [watch(inTime(done.promise)), watch(inTime(never()))]
    expect(waiting()).toBe(2)
    done.resolve('done')
    await clock.advance(1)
    expect([one.end, waiting()]).toEqual(['done', 1])
    await clock.advance(LIMIT_MS)
    expect([other.end, waiting()]).toEqual([`Error: ${LATE}`, 0])
  })

  it('that ends after it was given up is not counted twice', async () => {
    const { clock, inTime, waiting } = open()
    const done = Promise.withResolvers<string>()
    watch(inTime(done.promise))
    await clock.advance(LIMIT_MS)
    done.resolve('late')
    await clock.advance(1)
    expect(waiting()).toBe(0)
  })
})
