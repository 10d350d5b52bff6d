import { expect, test } from 'vitest'
import { together } from '../../src/lib/async.ts'

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
