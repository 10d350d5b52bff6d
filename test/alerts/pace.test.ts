import { describe, expect, test } from 'vitest'
import { CALLS_PER_WINDOW, createPace, POST_GAP_MS, WINDOW_MS } from '../../src/alerts/pace.ts'
import { SECOND, T0 } from '../support/build-events.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { BUILDS, RELEASES } from './stage.ts'

const begin = (recent: Parameters<typeof createPace>[1] = []) => {
  const clock = createHandClock(T0)
  return { clock, pace: createPace(clock, recent) }
}

describe('posts', () => {
  test('are one at a time in a channel, and a second apart; another channel is free meanwhile', async () => {
    const { clock, pace } = begin()
    const release = pace.take('post', BUILDS)
    expect(pace.freeAt('post', BUILDS)).toBe(Number.POSITIVE_INFINITY)
    expect(pace.freeAt('post', RELEASES)).toBe(0)
    await clock.advance(20)
    release(T0)
    expect(pace.freeAt('post', BUILDS)).toBe(T0 + 20 + POST_GAP_MS)
  })

  test('are not slowed by an answer that takes long', async () => {
    const { clock, pace } = begin()
    const release = pace.take('post', BUILDS)
    await clock.advance(5 * SECOND)
    release(T0)
    expect(pace.freeAt('post', BUILDS)).toBeLessThan(clock.now())
  })

  test('that were not sent cost nothing', () => {
    const { pace } = begin()
    pace.take('post', BUILDS)(null)
    expect(pace.freeAt('post', BUILDS)).toBe(0)
  })

  test('of a blocked channel wait as long as Slack said, whatever the call that met the block says afterwards', () => {
    const { clock, pace } = begin()
    const release = pace.take('post', BUILDS)
    pace.block('post', BUILDS, 30 * SECOND)
    release(T0)
    expect(pace.freeAt('post', BUILDS)).toBe(clock.now() + 30 * SECOND)
    expect(pace.freeAt('post', RELEASES)).toBe(0)
    expect(pace.freeAt('edit', BUILDS)).toBe(0)
  })

  test.each([
    [0, 100],
    [1, 200],
    [4, 1_600],
    [5, 2_000],
    [9, 2_000],
  ])('that Slack refused %i times all the same are taken to arrive within %i ms from then on', async (times, ms) => {
    const { clock, pace } = begin()
    for (let i = 0; i < times; i++) pace.block('post', RELEASES, SECOND)
    const release = pace.take('post', BUILDS)
    await clock.advance(5 * SECOND)
    release(T0)
    expect(pace.freeAt('post', BUILDS)).toBe(T0 + ms + POST_GAP_MS)
  })

  test('keep their gap over a restart', () => {
    const { pace } = begin([{ queue: 'post', channel: BUILDS, at: T0 - 100 }])
    expect(pace.freeAt('post', BUILDS)).toBeGreaterThanOrEqual(T0 - 100 + POST_GAP_MS)
    expect(pace.freeAt('post', RELEASES)).toBe(0)
  })
})

describe.each(['edit', 'look'] as const)('the calls of the queue %s', (queue) => {
  test('are so many in a minute and not one more, over all channels', async () => {
    const { clock, pace } = begin()
    for (let i = 0; i < CALLS_PER_WINDOW; i++) {
      expect(pace.freeAt(queue, BUILDS)).toBeLessThanOrEqual(clock.now())
      pace.take(queue, BUILDS)(clock.now())
      await clock.advance(SECOND)
    }
    expect(pace.freeAt(queue, RELEASES)).toBe(T0 + WINDOW_MS)
    await clock.advance(WINDOW_MS - CALLS_PER_WINDOW * SECOND)
    expect(pace.freeAt(queue, RELEASES)).toBeLessThanOrEqual(clock.now())
    pace.take(queue, BUILDS)(clock.now())
    expect(pace.freeAt(queue, RELEASES)).toBe(T0 + SECOND + WINDOW_MS)
  })

  test('under way count until they have ended', () => {
    const { clock, pace } = begin()
    const releases = Array.from({ length: CALLS_PER_WINDOW }, () => pace.take(queue, BUILDS))
    expect(pace.freeAt(queue, BUILDS)).toBe(Number.POSITIVE_INFINITY)
    releases[7]!(null)
    expect(pace.freeAt(queue, BUILDS)).toBeLessThanOrEqual(clock.now())
  })

  test('wait as long as Slack said, and the other queues do not', () => {
    const { pace } = begin()
    pace.block(queue, BUILDS, 30 * SECOND)
    expect(pace.freeAt(queue, RELEASES)).toBe(T0 + 30 * SECOND)
    expect(pace.freeAt(queue === 'edit' ? 'look' : 'edit', BUILDS)).toBe(0)
  })

  test('of the last minute count after a restart', () => {
    const recent = Array.from({ length: CALLS_PER_WINDOW }, () => ({ queue, channel: BUILDS, at: T0 - 10 * SECOND }))
    const { pace } = begin(recent)
    expect(pace.freeAt(queue, null)).toBeGreaterThanOrEqual(T0 - 10 * SECOND + WINDOW_MS)
    expect(begin(recent.slice(1)).pace.freeAt(queue, null)).toBe(0)
  })
})
