import { expect, it } from 'vitest'
import { createSeen, SIGNATURES_MAX } from '../../src/listeners/seen.ts'

const signature = (n: number, timestamp = '1700000000') => ({ timestamp, hex: String(n).padStart(64, '0') })

it('what was signed is known again, and only that', () => {
  const seen = createSeen()
  expect(seen.again(signature(1))).toBe(false)
  expect(seen.again(signature(2))).toBe(false)
  expect(seen.again(signature(1, '1700000001'))).toBe(false)
  expect([seen.again(signature(1)), seen.again(signature(2)), seen.again(signature(1))]).toEqual([true, true, true])
})

it('of more than it may remember it forgets the first', () => {
  const seen = createSeen()
  for (let n = 0; n <= SIGNATURES_MAX; n++) seen.again(signature(n))
  expect(seen.again(signature(1))).toBe(true)
  expect(seen.again(signature(0))).toBe(false)
})
