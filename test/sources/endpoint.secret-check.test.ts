import { expect, test } from 'vitest'
import { createSecretCheck } from '../../src/sources/endpoint.ts'

test('each of the secrets is accepted, and nothing else', () => {
  const isSecret = createSecretCheck(['secret-of-monday', 'secret-of-tuesday'])
  expect(['secret-of-monday', 'secret-of-tuesday'].map(isSecret)).toEqual([true, true])
  expect(['', 'secret-of-monda', 'secret-of-monday ', null].map(isSecret)).toEqual([false, false, false, false])
})

test('a request without a secret is never accepted, not even if the secret is empty', () => {
  expect(createSecretCheck([''])(null)).toBe(false)
})
