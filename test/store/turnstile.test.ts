import { expect, test } from 'vitest'
import { createTurnstile } from '../../src/store/postgres.ts'

/** Works that begin when they are let in, and end when they are told to. */
function openTurnstile(insideMax: number) {
  const pass = createTurnstile(insideMax)
  const begun: string[] = []
  const ends = new Map<string, { resolve: (value: string) => void; reject: (error: Error) => void }>()
  const come = (name: string) =>
    pass(() => {
      begun.push(name)
      return new Promise<string>((resolve, reject) => ends.set(name, { resolve, reject }))
    })
  return {
    begun,
    come,
    end: (name: string) => ends.get(name)!.resolve(name),
    fail: (name: string) => ends.get(name)!.reject(new Error(name)),
  }
}

const settle = () => new Promise(setImmediate)

test('so many are inside at once; the others come in in their order, one for each that leaves', async () => {
  const { begun, come, end } = openTurnstile(2)
  const all = ['a', 'b', 'c', 'd'].map(come)
  await settle()
  expect(begun).toEqual(['a', 'b'])
  end('b')
  await settle()
  expect(begun).toEqual(['a', 'b', 'c'])
  end('a')
  await settle()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  end('c')
  end('d')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
})

test('who fails leaves as well, and has failed alone', async () => {
  const { begun, come, end, fail } = openTurnstile(1)
  const [first, second] = [come('a'), come('b')]
  await settle()
  fail('a')
  await expect(first).rejects.toThrow('a')
  await settle()
  expect(begun).toEqual(['a', 'b'])
  end('b')
  expect(await second).toBe('b')
})

test('a place that nobody waited for is free for the next, and for no more than that', async () => {
  const { begun, come, end } = openTurnstile(1)
  const first = come('a')
  await settle()
  end('a')
  await first
  void come('b')
  void come('c')
  await settle()
  expect(begun).toEqual(['a', 'b'])
})
