import { schedule } from 'node-cron'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { HOUR, SECOND, T0 } from '../support/build-events.ts'

// Why the jobs are not run by node-cron's own timers (decision 7). If one of these tests fails, they may be.
describe("node-cron's own timers", () => {
  beforeEach(() => void vi.useFakeTimers({ now: T0 }))
  afterEach(() => void vi.useRealTimers())

  function ticking(cron: string) {
    const ticks: number[] = []
    const task = schedule(cron, () => void ticks.push(Date.now()), { timezone: 'UTC', suppressMissedWarning: true })
    onTestFinished(() => task.destroy())
    return { ticks, task }
  }

  test('follow the clock of the machine', async () => {
    const { ticks } = ticking('*/5 * * * * *')
    await vi.advanceTimersByTimeAsync(10 * SECOND)
    expect(ticks).toEqual([T0 + 5 * SECOND, T0 + 10 * SECOND])
  })

  test('wait for an hour if that clock is set back by an hour', async () => {
    const { ticks } = ticking('*/5 * * * * *')
    await vi.advanceTimersByTimeAsync(6 * SECOND)
    vi.setSystemTime(T0 - HOUR)
    await vi.advanceTimersByTimeAsync(HOUR)
    expect(ticks).toHaveLength(1)
  })

  test('go through every time that was missed, one by one, if that clock is set forward', async () => {
    const { ticks, task } = ticking('*/5 * * * * *')
    let missed = 0
    task.on('execution:missed', () => void missed++)
    vi.setSystemTime(T0 + HOUR)
    await vi.advanceTimersByTimeAsync(5 * SECOND)
    expect(missed).toBeGreaterThan(700)
    expect(ticks.length).toBeLessThanOrEqual(1)
  })

  test('leave out a time at which the process was busy for more than a second, and say nothing of the last one', async () => {
    const { ticks, task } = ticking('0 15 * * *')
    vi.setSystemTime(T0 + HOUR + 2 * SECOND)
    await vi.advanceTimersByTimeAsync(2 * HOUR)
    expect([ticks, task.lastRun()]).toEqual([[], null])
  })
})
