import { describe, expect, test } from 'vitest'
import { createRunningTime, createSteadyTime, NOT_BEFORE_MAX_MS } from '../../src/lib/clock.ts'
import { HOUR, MINUTE, SECOND, T0 } from '../support/build-events.ts'

/** A machine whose clock the test sets. */
function openMachine() {
  let ran = 5_000
  let aheadMs = 0
  return {
    clocks: { set: () => T0 + ran + aheadMs, running: () => ran },
    pass: (ms: number) => void (ran += ms),
    set: (ms: number) => void (aheadMs = ms),
  }
}

describe('steady time', () => {
  test("is the machine's time, to the millisecond, while the clock is not set", () => {
    const { clocks, pass } = openMachine()
    const { now } = createSteadyTime(clocks)
    for (const ms of [0, 1, SECOND, HOUR]) {
      pass(ms)
      expect(now()).toBe(clocks.set())
    }
  })

  test('follows at once a clock that is set forward', () => {
    const { clocks, set } = openMachine()
    const { now } = createSteadyTime(clocks)
    set(HOUR)
    expect(now()).toBe(clocks.set())
  })

  test('runs on slowly when the clock is set back, and agrees with it after twice the difference', () => {
    const { clocks, pass, set } = openMachine()
    const { now } = createSteadyTime(clocks)
    const before = now()
    set(-HOUR)
    expect(now()).toBe(before)
    pass(SECOND)
    expect(now()).toBe(before + SECOND / 2)
    pass(2 * HOUR - 2 * SECOND)
    expect(now()).toBeGreaterThan(clocks.set())
    pass(SECOND)
    expect(now()).toBe(clocks.set())
    pass(MINUTE)
    expect(now()).toBe(clocks.set())
  })

  test("begins at the database's last time, unless that is more than a day away", () => {
    const left = createSteadyTime(openMachine().clocks)
    const now = left.now()
    left.notBefore(now + HOUR)
    expect(left.now()).toBe(now + HOUR)
    left.notBefore(now)
    expect(left.now()).toBe(now + HOUR)
    const edge = createSteadyTime(openMachine().clocks)
    edge.notBefore(now + NOT_BEFORE_MAX_MS + 1)
    expect(edge.now()).toBe(now)
    edge.notBefore(now + NOT_BEFORE_MAX_MS)
    expect(edge.now()).toBe(now + NOT_BEFORE_MAX_MS)
  })
})

test('does not affect running time, whatever the clock is set to', () => {
  const { clocks, pass, set } = openMachine()
  const now = createRunningTime(clocks)
  const before = now()
  for (const aheadMs of [HOUR, -HOUR]) {
    set(aheadMs)
    pass(SECOND)
  }
  expect(now()).toBe(before + 2 * SECOND)
})
