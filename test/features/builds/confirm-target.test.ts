import { expect, it } from 'vitest'
import { createSeen, SIGNATURES_MAX } from '../../../src/slack/http/gate.ts'

const signature = (n: number, timestamp = '1700000000') => ({ timestamp, hex: String(n).padStart(64, '0') })

it('a remembered request is recognised, and no other', () => {
  const seen = createSeen()
  expect(seen.has(signature(1))).toBe(false)
  seen.add(signature(1))
  expect([seen.has(signature(1)), seen.has(signature(1))]).toEqual([true, true])
  expect([seen.has(signature(2)), seen.has(signature(1, '1700000001'))]).toEqual([false, false])
})

it('when the memory is full, the oldest request is forgotten', () => {
  const seen = createSeen()
  for (let n = 0; n <= SIGNATURES_MAX; n++) seen.add(signature(n))
  expect([seen.has(signature(0)), seen.has(signature(1)), seen.has(signature(SIGNATURES_MAX))]).toEqual([
    false,
    true,
    true,
  ])
})
