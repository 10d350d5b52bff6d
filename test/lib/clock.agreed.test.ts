import { describe, expect, it } from 'vitest'
import { createSyncedClock } from '../../src/lib/clock.ts'
import { createHandClock } from '../support/hand-clock.ts'

const T0 = Date.UTC(2026, 4, 4)

/** Our clock at T0, and a database whose clock is so much ahead of it and answers after `tookMs`. */
function openClocks(aheadMs: number, tookMs = 0) {
  const own = createHandClock(T0)
  const agreed = createSyncedClock(own)
  const ask = async () => {
    const theirs = own.now() + tookMs / 2 + aheadMs
    if (tookMs > 0) await own.advance(tookMs)
    return theirs
  }
  return { own, agreed, agree: () => agreed.sync(ask) }
}

describe('a clock that follows another one', () => {
  it('is our own before the other one was asked', () => {
    expect(openClocks(90_000).agreed.now()).toBe(T0)
  })

  it.each([90_000, -90_000, 21])('is %i ms ahead of our own if the other one is', async (aheadMs) => {
    const { own, agreed, agree } = openClocks(aheadMs)
    await agree()
    expect(agreed.now() - own.now()).toBe(aheadMs)
    await own.advance(5_000)
    expect(agreed.now() - own.now()).toBe(aheadMs)
  })

  it('does not change if the difference is no more than accurate clocks may have', async () => {
    const { own, agreed, agree } = openClocks(20)
    await agree()
    expect(agreed.now()).toBe(own.now())
  })

  it('assumes that the other clock was read in the middle of the round trip', async () => {
    const { own, agreed, agree } = openClocks(10_000, 4_000)
    await agree()
    expect(agreed.now() - own.now()).toBe(10_000)
  })

  it('does not change if a slow answer could agree with it', async () => {
    const { own, agreed, agree } = openClocks(1_500, 4_000)
    await agree()
    expect(agreed.now()).toBe(own.now())
  })

  it('is corrected again when the other clock is set', async () => {
    const { own, agreed } = openClocks(0)
    await agreed.sync(async () => own.now() + 60_000)
    await agreed.sync(async () => own.now() - 60_000)
    expect(agreed.now() - own.now()).toBe(-60_000)
  })

  it('does not change without an answer', async () => {
    const { own, agreed } = openClocks(0)
    await agreed.sync(async () => own.now() + 60_000)
    await expect(agreed.sync(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect(agreed.now() - own.now()).toBe(60_000)
  })
})
