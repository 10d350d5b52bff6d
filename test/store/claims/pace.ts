import { expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, CARD, hear, RELEASES, stand } from '../given.ts'

/** What must survive a restart: the calls of the last minute, and the closed channels. */
export function paceClaims(places: () => Places): void {
  test('recent calls are read from a given time on, inclusive, oldest first', async () => {
    await using place = await places().open()
    const calls = [
      { queue: 'edit', channel: RELEASES, at: T0 + SECOND },
      { queue: 'post', channel: BUILDS, at: T0 },
      { queue: 'look', channel: BUILDS, at: T0 - 1 },
    ] as const
    for (const call of calls) await place.store.write((tx) => tx.insertCall(call))
    expect(await place.store.read.recentCalls(T0)).toEqual([calls[1], calls[0]])
    expect(await place.store.read.recentCalls(T0 + MINUTE)).toEqual([])
  })

  test('two calls at the same time are two', async () => {
    await using place = await places().open()
    const call = { queue: 'edit', channel: BUILDS, at: T0 } as const
    for (const each of [call, call]) await place.store.write((tx) => tx.insertCall(each))
    expect(await place.store.read.recentCalls(T0)).toEqual([call, call])
  })

  test('calls before a given time are forgotten, later ones are not', async () => {
    await using place = await places().open()
    for (const at of [T0 - 1, T0, T0 + 1])
      await place.store.write((tx) => tx.insertCall({ queue: 'post', channel: BUILDS, at }))
    await place.store.write((tx) => tx.forgetCalls(T0))
    expect((await place.store.read.recentCalls(0)).map(({ at }) => at)).toEqual([T0, T0 + 1])
  })

  test('a channel is open until it is closed, and closed until it is reopened', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    expect(await read.closedChannels()).toEqual([])
    const closing = { channel: BUILDS, code: 'is_archived', retryAt: T0 + HOUR }
    const closed = { ...closing, closedAt: T0, notifiedAt: null }
    await write((tx) => tx.closeChannel({ ...closing, at: T0 }))
    expect(await read.closedChannels()).toEqual([closed])
    await write((tx) => tx.reopenChannel(RELEASES))
    expect(await read.closedChannels()).toEqual([closed])
    await write((tx) => tx.reopenChannel(BUILDS))
    expect(await read.closedChannels()).toEqual([])
  })

  test('a channel that is closed again has the new reason, and the time of the first closing', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.closeChannel({ channel: BUILDS, code: 'not_in_channel', at: T0, retryAt: T0 + MINUTE }))
    await write((tx) => tx.closeChannel({ channel: BUILDS, code: 'is_archived', at: T0 + MINUTE, retryAt: T0 + HOUR }))
    expect(await read.closedChannels()).toEqual([
      { channel: BUILDS, code: 'is_archived', retryAt: T0 + HOUR, closedAt: T0, notifiedAt: null },
    ])
  })

  test('the oldest news is the first event that is not ingested, whatever its urgency', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    expect(await read.oldestNews()).toBeNull()
    const first = await hear(place.store, { after: -MINUTE, priority: 2 })
    await hear(place.store, { after: 0, priority: 0 })
    await hear(place.store, { after: SECOND, priority: 1 })
    expect(await read.oldestNews()).toBe(T0 - MINUTE)
    await write((tx) => tx.placeEvent(first, 1))
    expect(await read.oldestNews()).toBe(T0)
  })

  test('the oldest step of a queue is the one that is due first; channels can be left out', async () => {
    await using place = await places().open()
    const { read } = place.store
    expect(await read.oldestStep('post', [])).toBeNull()
    await stand(place.store, CARD, { post: { at: T0 + MINUTE, priority: 0 }, edit: { at: T0 - MINUTE, priority: 0 } })
    await stand(place.store, { ...CARD, channel: RELEASES }, { post: { at: T0, priority: 4 } })
    expect(await read.oldestStep('post', [])).toBe(T0)
    expect(await read.oldestStep('post', [RELEASES])).toBe(T0 + MINUTE)
    expect(await read.oldestStep('post', [RELEASES, BUILDS])).toBeNull()
    expect(await read.oldestStep('look', [])).toBeNull()
  })

  test('a closing is marked as told once, even if it is found again', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    const close = (at: number) =>
      write((tx) => tx.closeChannel({ channel: BUILDS, code: 'is_archived', at, retryAt: at + HOUR }))
    const told = (closedAt: number, at: number) => write((tx) => tx.markNotified({ channel: BUILDS, closedAt }, at))
    await close(T0)
    await write((tx) => tx.closeChannel({ channel: RELEASES, code: 'is_archived', at: T0, retryAt: T0 }))
    expect(await told(T0, T0 + SECOND)).toBe(true)
    expect(await told(T0, T0 + MINUTE)).toBe(false)
    await close(T0 + HOUR)
    expect(await told(T0, T0 + HOUR)).toBe(false)
    const toldAt = new Map((await read.closedChannels()).map((closed) => [closed.channel, closed.notifiedAt]))
    expect(toldAt).toEqual(
      new Map([
        [BUILDS, T0 + SECOND],
        [RELEASES, null],
      ]),
    )
  })

  test('a reopened channel that is closed again can be marked as told again, but not for the earlier closing', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    const close = (at: number) =>
      write((tx) => tx.closeChannel({ channel: BUILDS, code: 'is_archived', at, retryAt: at + HOUR }))
    const told = (closedAt: number) => write((tx) => tx.markNotified({ channel: BUILDS, closedAt }, closedAt + SECOND))
    await close(T0)
    expect(await told(T0)).toBe(true)
    await write((tx) => tx.reopenChannel(BUILDS))
    expect(await told(T0)).toBe(false)
    await close(T0 + MINUTE)
    expect(await read.closedChannels()).toMatchObject([{ closedAt: T0 + MINUTE, notifiedAt: null }])
    expect(await told(T0)).toBe(false)
    expect(await told(T0 + MINUTE)).toBe(true)
  })
}
