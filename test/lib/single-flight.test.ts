import { expect, test } from 'vitest'
import { singleFlight } from '../../src/lib/async.ts'

function begin() {
  const ends: ((value: number) => void)[] = []
  const ask = singleFlight(() => new Promise<number>((resolve) => ends.push(resolve)))
  return { ask, ends }
}

test('work that is under way is done once for all who ask', async () => {
  const { ask, ends } = begin()
  const asked = [ask(), ask(), ask()]
  expect(ends).toHaveLength(1)
  ends[0]!(7)
  expect(await Promise.all(asked)).toEqual([7, 7, 7])
})

test('work that has ended is done again for who asks later', async () => {
  const { ask, ends } = begin()
  const first = ask()
  ends[0]!(1)
  await first
  const second = ask()
  ends[1]!(2)
  expect(await second).toBe(2)
})

test('work that failed has failed for all who asked, and is tried again for who asks later', async () => {
  let tries = 0
  const ask = singleFlight(async () => {
    tries += 1
    if (tries === 1) throw new Error('away')
    return tries
  })
  expect((await Promise.allSettled([ask(), ask()])).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask()).toBe(2)
})
