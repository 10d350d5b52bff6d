import { expect, test } from 'vitest'
import { createTurnstile } from '../../src/store/postgres.ts'

/** Tasks that begin when they are admitted and end when the test says so. */
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

test('a limited number of tasks run at once; the others begin in order, one for each that ends', async () => {
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

test('a task that fails admits the next one, which is not affected', async () => {
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

test('a free place is used by one later task only', async () => {
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
