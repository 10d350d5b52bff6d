import { expect, test, describe, it } from 'vitest'
import { singleFlight, together, createBufferedSink, BUFFERED_MAX, createTimeLimit } from '../../src/lib/async.ts'
import { setImmediate as turn } from 'node:timers/promises'
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

interface Listener {
  count: (what: string) => void
  time: (ms: number) => void
}

function createHeard() {
  const said: unknown[] = []
  return { said, count: (what: string) => said.push(['count', what]), time: (ms: number) => said.push(['time', ms]) }
}

describe('a listener that is attached later', () => {
  it('gets what was buffered, in order, and then the items of each turn of the event loop', async () => {
    const { push, use } = createBufferedSink<Listener>()
    const heard = createHeard()
    push((to) => to.count('a'))
    push((to) => to.time(1))
    expect(heard.said).toEqual([])
    use(heard)
    const before = [
      ['count', 'a'],
      ['time', 1],
    ]
    push((to) => to.count('b'))
    push((to) => to.time(2))
    expect(heard.said).toEqual(before)
    await turn()
    expect(heard.said).toEqual([...before, ['count', 'b'], ['time', 2]])
    push((to) => to.count('c'))
    await turn()
    expect(heard.said.at(-1)).toEqual(['count', 'c'])
  })

  it('gets nothing twice if another one replaces it', async () => {
    const { push, use } = createBufferedSink<Listener>()
    const [first, second] = [createHeard(), createHeard()]
    push((to) => to.count('a'))
    use(first)
    use(second)
    push((to) => to.count('b'))
    await turn()
    expect(first.said).toEqual([['count', 'a']])
    expect(second.said).toEqual([['count', 'b']])
  })

  it('gets a limited number of buffered items', () => {
    const { push, use } = createBufferedSink<Listener>()
    for (let ms = 0; ms < BUFFERED_MAX + 1; ms++) push((to) => to.time(ms))
    const heard = createHeard()
    use(heard)
    expect(heard.said).toHaveLength(BUFFERED_MAX)
    expect(heard.said.at(-1)).toEqual(['time', BUFFERED_MAX - 1])
  })
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

  it('has its own limit, whatever began before it', async () => {
    const { clock, inTime } = open()
    const [first] = [watch(inTime(never())), await clock.advance(99)]
    const second = watch(inTime(never()))
    await clock.advance(LIMIT_MS - 99)
    expect([first.end, second.end]).toEqual([expect.stringContaining(LATE), 'waits'])
    await clock.advance(99)
    expect(second.end).toContain(LATE)
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
