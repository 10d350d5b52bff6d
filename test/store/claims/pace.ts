import { expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND, T0 } from '../../support/facts.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, RELEASES } from '../given.ts'

/** What a restart must not forget: the calls of the last minute, and the channels that are closed. */
export function paceClaims(places: () => Places): void {
  test('the calls since a moment are read with it, oldest first', async () => {
    await using place = await places().open()
    const calls = [
      { lane: 'edit', channel: RELEASES, at: T0 + SECOND },
      { lane: 'post', channel: BUILDS, at: T0 },
      { lane: 'look', channel: BUILDS, at: T0 - 1 },
    ] as const
    for (const call of calls) await place.store.write((tx) => tx.insertCall(call))
    expect(await place.store.read.recentCalls(T0)).toEqual([calls[1], calls[0]])
    expect(await place.store.read.recentCalls(T0 + MINUTE)).toEqual([])
  })

  test('two calls of one moment are two', async () => {
    await using place = await places().open()
    const call = { lane: 'edit', channel: BUILDS, at: T0 } as const
    for (const each of [call, call]) await place.store.write((tx) => tx.insertCall(each))
    expect(await place.store.read.recentCalls(T0)).toEqual([call, call])
  })

  test('calls before a moment are forgotten, those since are not', async () => {
    await using place = await places().open()
    for (const at of [T0 - 1, T0, T0 + 1])
      await place.store.write((tx) => tx.insertCall({ lane: 'post', channel: BUILDS, at }))
    await place.store.write((tx) => tx.forgetCalls(T0))
    expect((await place.store.read.recentCalls(0)).map(({ at }) => at)).toEqual([T0, T0 + 1])
  })

  test('a channel is open until it is closed, and closed until it is opened again', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    expect(await read.closedChannels()).toEqual([])
    const closed = { channel: BUILDS, code: 'is_archived', retryAt: T0 + HOUR }
    await write((tx) => tx.closeChannel({ ...closed, at: T0 }))
    expect(await read.closedChannels()).toEqual([closed])
    await write((tx) => tx.reopenChannel(RELEASES))
    expect(await read.closedChannels()).toEqual([closed])
    await write((tx) => tx.reopenChannel(BUILDS))
    expect(await read.closedChannels()).toEqual([])
  })

  test('a channel that is closed again says why now, and since when it has been closed', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.closeChannel({ channel: BUILDS, code: 'not_in_channel', at: T0, retryAt: T0 + MINUTE }))
    await write((tx) => tx.closeChannel({ channel: BUILDS, code: 'is_archived', at: T0 + MINUTE, retryAt: T0 + HOUR }))
    expect(await read.closedChannels()).toEqual([{ channel: BUILDS, code: 'is_archived', retryAt: T0 + HOUR }])
    const [row] = await place.sql('select closed_at from channel')
    expect(Number(row?.['closed_at'])).toBe(T0)
  })
}
