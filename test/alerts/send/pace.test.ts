import { describe, expect, test } from 'vitest'
import { CALLS_PER_WINDOW, createPace, POST_BURST, POST_GAP_MS, WINDOW_MS } from '../../../src/alerts/send/pace.ts'
import type { ChannelId } from '../../../src/domain/ids.ts'
import { channelId, MINUTE, SECOND, T0 } from '../../support/build-events.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { BUILDS, RELEASES } from '../stage.ts'

const begin = (recent: Parameters<typeof createPace>[1] = []) => {
  const clock = createHandClock(T0)
  return { clock, pace: createPace(clock, recent) }
}

const ready = ({ clock, pace }: ReturnType<typeof begin>, channel: ChannelId = BUILDS): boolean =>
  pace.freeAt('post', channel) <= clock.now()

/** Posts as many as are allowed now, each answered at once. @returns how many */
function postAll(stage: ReturnType<typeof begin>): number {
  let posts = 0
  for (; ready(stage); posts++) stage.pace.take('post', BUILDS)(stage.clock.now())
  return posts
}

describe('posts', () => {
  test(`in a channel may be a burst of ${POST_BURST}, then one a second; each second of rest allows one more`, async () => {
    const stage = begin()
    expect(postAll(stage)).toBe(POST_BURST)
    expect(stage.pace.freeAt('post', BUILDS)).toBe(T0 + POST_GAP_MS)
    for (const [restS, posts] of [
      [1, 1],
      [2, 2],
      [1, 1],
      [60, POST_BURST],
    ] as const) {
      await stage.clock.advance(restS * SECOND)
      expect(postAll(stage)).toBe(posts)
    }
  })

  test('go out one at a time in a channel, while other channels are free', async () => {
    const stage = begin()
    const release = stage.pace.take('post', BUILDS)
    expect(stage.pace.freeAt('post', BUILDS)).toBe(Number.POSITIVE_INFINITY)
    expect(ready(stage, RELEASES)).toBe(true)
    release(T0)
    expect(ready(stage)).toBe(true)
  })

  test('count from the time they reach Slack, not from the time they were begun', async () => {
    const stage = begin()
    for (let i = 0; i < POST_BURST; i++) {
      const release = stage.pace.take('post', BUILDS)
      await stage.clock.advance(20)
      release(stage.clock.now() - 20)
    }
    expect(stage.pace.freeAt('post', BUILDS)).toBe(T0 + 20 + POST_GAP_MS)
  })

  test('that were not sent do not count', () => {
    const stage = begin()
    for (let i = 0; i < POST_BURST; i++) stage.pace.take('post', BUILDS)(null)
    expect(postAll(stage)).toBe(POST_BURST)
  })

  test('in a blocked channel wait as long as Slack said, even when the blocked call ends later', () => {
    const stage = begin()
    const release = stage.pace.take('post', BUILDS)
    stage.pace.block('post', BUILDS, 30 * SECOND)
    release(T0)
    expect(stage.pace.freeAt('post', BUILDS)).toBe(T0 + 30 * SECOND)
    expect(ready(stage, RELEASES)).toBe(true)
    expect(stage.pace.freeAt('edit', BUILDS)).toBe(0)
  })

  test('are limited to one a second once Slack refused a burst, however long the channel rests', async () => {
    const stage = begin()
    stage.pace.block('post', BUILDS, SECOND)
    await stage.clock.advance(SECOND)
    expect(postAll(stage)).toBe(1)
    expect(stage.pace.freeAt('post', BUILDS)).toBe(T0 + SECOND + POST_GAP_MS)
    await stage.clock.advance(MINUTE)
    expect(postAll(stage)).toBe(1)
  })

  test('in a channel that refused a burst stay at one a second even after posts in many other channels', async () => {
    const stage = begin()
    stage.pace.block('post', BUILDS, SECOND)
    await stage.clock.advance(MINUTE)
    for (let n = 0; n < 2_000; n++) stage.pace.take('post', channelId(`C0MANY${n}`))(stage.clock.now())
    expect(postAll(stage)).toBe(1)
  })

  test.each([
    [1, 100],
    [2, 200],
    [5, 1_600],
    [6, 2_000],
    [9, 2_000],
  ])('that Slack refused %i times in a channel count as arriving up to %i ms late from then on', async (times, ms) => {
    const { clock, pace } = begin()
    for (let i = 0; i < times; i++) pace.block('post', BUILDS, SECOND)
    await clock.advance(SECOND)
    const release = pace.take('post', BUILDS)
    await clock.advance(5 * SECOND)
    release(T0 + SECOND)
    expect(pace.freeAt('post', BUILDS)).toBe(T0 + SECOND + ms + POST_GAP_MS)
  })

  test('are not slowed down by a slow answer', async () => {
    const { clock, pace } = begin()
    pace.block('post', BUILDS, 0)
    const release = pace.take('post', BUILDS)
    await clock.advance(5 * SECOND)
    release(T0)
    expect(pace.freeAt('post', BUILDS)).toBeLessThan(clock.now())
  })
})

describe('posts after a restart', () => {
  const recentPosts = (...agoMs: readonly number[]) =>
    agoMs.map((ms) => ({ queue: 'post', channel: BUILDS, at: T0 - ms }) as const)

  test('count the posts of the last moment, which may have arrived up to a second after they were recorded', async () => {
    expect(postAll(begin(recentPosts(100)))).toBe(1)
    expect(postAll(begin(recentPosts(1_100)))).toBe(2)
    expect(postAll(begin(recentPosts(100, 90)))).toBe(0)
    expect(postAll(begin(recentPosts(10 * SECOND, 9 * SECOND)))).toBe(POST_BURST)
    expect(ready(begin(recentPosts(100, 90, 80)), RELEASES)).toBe(true)
  })

  test('allow no burst in a channel with a post every second, even if older posts are not known', () => {
    const everySecond = Array.from({ length: WINDOW_MS / SECOND }, (_, s) => WINDOW_MS - s * SECOND)
    expect(postAll(begin(recentPosts(...everySecond)))).toBe(0)
  })
})

describe.each(['edit', 'look'] as const)('the calls of the queue %s', (queue) => {
  test('are limited per minute, over all channels together', async () => {
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

  test('count while they are in flight', () => {
    const { clock, pace } = begin()
    const releases = Array.from({ length: CALLS_PER_WINDOW }, () => pace.take(queue, BUILDS))
    expect(pace.freeAt(queue, BUILDS)).toBe(Number.POSITIVE_INFINITY)
    releases[7]!(null)
    expect(pace.freeAt(queue, BUILDS)).toBeLessThanOrEqual(clock.now())
  })

  test('wait as long as Slack said, while the other queues do not', () => {
    const { pace } = begin()
    pace.block(queue, BUILDS, 30 * SECOND)
    expect(pace.freeAt(queue, RELEASES)).toBe(T0 + 30 * SECOND)
    expect(pace.freeAt(queue === 'edit' ? 'look' : 'edit', BUILDS)).toBe(0)
  })

  test('of the last minute still count after a restart', () => {
    const recent = Array.from({ length: CALLS_PER_WINDOW }, () => ({ queue, channel: BUILDS, at: T0 - 10 * SECOND }))
    const { pace } = begin(recent)
    expect(pace.freeAt(queue, null)).toBeGreaterThanOrEqual(T0 - 10 * SECOND + WINDOW_MS)
    expect(begin(recent.slice(1)).pace.freeAt(queue, null)).toBe(0)
  })
})
