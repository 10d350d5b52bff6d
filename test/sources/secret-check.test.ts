import { expect, test } from 'vitest'
import { createSecretCheck } from '../../src/sources/secret-check.ts'

test('any of the secrets is right, and nothing else', () => {
  const isSecret = createSecretCheck(['secret-of-monday', 'secret-of-tuesday'])
  expect(['secret-of-monday', 'secret-of-tuesday'].map(isSecret)).toEqual([true, true])
  expect(['', 'secret-of-monda', 'secret-of-monday ', null].map(isSecret)).toEqual([false, false, false, false])
})

test('who presents nothing knows no secret, not even an empty one', () => {
  expect(createSecretCheck([''])(null)).toBe(false)
})
