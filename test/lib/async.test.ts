import { expect, test, describe, it } from 'vitest'
import { singleFlight, together, withTimeout } from '../../src/lib/async.ts'
import { createHandClock } from '../support/hand-clock.ts'

function begin() {
  const ends: ((value: number) => void)[] = []
  const ask = singleFlight(() => new Promise<number>((resolve) => ends.push(resolve)))
  return { ask, ends }
}

test('concurrent callers share one run of the work', async () => {
  const { ask, ends } = begin()
  const asked = [ask(), ask(), ask()]
  expect(ends).toHaveLength(1)
  ends[0]!(7)
  expect(await Promise.all(asked)).toEqual([7, 7, 7])
})

test('a caller after the end starts the work again', async () => {
  const { ask, ends } = begin()
  const first = ask()
  ends[0]!(1)
  await first
  const second = ask()
  ends[1]!(2)
  expect(await second).toBe(2)
})

test('a failure reaches all concurrent callers, and a later caller starts the work again', async () => {
  let tries = 0
  const ask = singleFlight(async () => {
    tries += 1
    if (tries === 1) throw new Error('away')
    return tries
  })
  expect((await Promise.allSettled([ask(), ask()])).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask()).toBe(2)
})

test('gives all results in order, also those that are no promises', async () => {
  expect(await together([Promise.resolve(1), null, Promise.resolve('b')])).toEqual([1, null, 'b'])
})

test('if one fails, throws its error, but not before the others have ended', async () => {
  const slow = Promise.withResolvers<string>()
  let ended = false
  const failing = together([slow.promise, Promise.reject(new Error('refused')), Promise.reject(new Error('too'))])
  const seen = failing.catch((error: unknown) => {
    ended = true
    return error
  })
  await new Promise(setImmediate)
  expect(ended).toBe(false)
  slow.resolve('late')
  expect(await seen).toEqual(new Error('refused'))
})

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

describe('work with a time limit', () => {
  it('gives its result or its error', async () => {
    const clock = createHandClock(0)
    await expect(withTimeout(clock, LIMIT_MS, Promise.resolve('done'))).resolves.toBe('done')
    const failing = Promise.reject(new Error('the disk is full'))
    await expect(withTimeout(clock, LIMIT_MS, failing)).rejects.toThrow('the disk is full')
  })

  it('is given up at its limit, and not before', async () => {
    const clock = createHandClock(0)
    const one = watch(withTimeout(clock, LIMIT_MS, never()))
    await clock.advance(LIMIT_MS - 1)
    expect(one.end).toBe('waits')
    await clock.advance(1)
    expect(one.end).toContain(LATE)
  })
})
