import { describe, expect, it } from 'vitest'
import { createLogThrottle, LOGGED_AGAIN_MS, LOGGED_AGAIN_MS_MAX } from '../../src/lib/log.ts'

/** The times (ms) at which a continuing problem is logged. */
function saidWithin(endMs: number, stepMs: number): number[] {
  let now = 0
  const logThrottle = createLogThrottle({ now: () => now })
  const said: number[] = []
  for (; now <= endMs; now += stepMs) if (logThrottle.isDue('away')) said.push(now)
  return said
}

describe('a continuing problem', () => {
  it('is logged at once, after a minute, and then with doubling delays', () => {
    const minutes = saidWithin(15 * LOGGED_AGAIN_MS, LOGGED_AGAIN_MS / 4).map((at) => at / LOGGED_AGAIN_MS)
    expect(minutes).toEqual([0, 1, 3, 7, 15])
  })

  it('is logged at least once an hour', () => {
    const [before, last] = saidWithin(24 * LOGGED_AGAIN_MS_MAX, LOGGED_AGAIN_MS).slice(-2)
    expect(last! - before!).toBe(LOGGED_AGAIN_MS_MAX)
  })

  it('is logged at once when it returns after its end; other problems are not affected', () => {
    const logThrottle = createLogThrottle({ now: () => 0 })
    expect([logThrottle.isDue('away'), logThrottle.isDue('away'), logThrottle.isDue('refused')]).toEqual([
      true,
      false,
      true,
    ])
    logThrottle.over('away')
    expect([logThrottle.isDue('away'), logThrottle.isDue('refused')]).toEqual([true, false])
  })
})
