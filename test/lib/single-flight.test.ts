import { expect, test } from 'vitest'
import { singleFlight } from '../../src/lib/async.ts'

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
