import { describe, expect, it } from 'vitest'
import { createLogThrottle, SAID_AGAIN_MS, SAID_AGAIN_MS_MAX } from '../../src/lib/log.ts'

/** At which of these milliseconds something that goes on is said. */
function saidWithin(endMs: number, stepMs: number): number[] {
  let now = 0
  const logThrottle = createLogThrottle({ now: () => now })
  const said: number[] = []
  for (; now <= endMs; now += stepMs) if (logThrottle.isDue('away')) said.push(now)
  return said
}

describe('what goes on', () => {
  it('is said at once, after a minute, and then after twice as long each time', () => {
    const minutes = saidWithin(15 * SAID_AGAIN_MS, SAID_AGAIN_MS / 4).map((at) => at / SAID_AGAIN_MS)
    expect(minutes).toEqual([0, 1, 3, 7, 15])
  })

  it('is said once an hour, however long it has gone on', () => {
    const [before, last] = saidWithin(24 * SAID_AGAIN_MS_MAX, SAID_AGAIN_MS).slice(-2)
    expect(last! - before!).toBe(SAID_AGAIN_MS_MAX)
  })

  it('is said at once when it comes again after its end, and anything else at any time', () => {
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
