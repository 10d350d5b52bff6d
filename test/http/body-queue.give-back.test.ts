import { expect, it } from 'vitest'
import { giveBack } from '../../src/http/body.ts'

it('memory that nothing else uses is released at once', () => {
  const bytes = Buffer.allocUnsafeSlow(1024 * 1024)
  const before = process.memoryUsage().arrayBuffers
  giveBack(bytes)
  expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThanOrEqual(1024 * 1024)
  expect(bytes).toHaveLength(0)
})

it('memory in a larger buffer is kept, since others may use it', () => {
  const whole = Buffer.alloc(1024 * 1024, 'x')
  giveBack(whole.subarray(0, 512 * 1024))
  giveBack(whole.subarray(512 * 1024))
  expect(whole.toString('latin1', 0, 3)).toBe('xxx')
  const pooled = Buffer.from('a delivery')
  giveBack(pooled)
  expect(pooled.toString()).toBe('a delivery')
})
