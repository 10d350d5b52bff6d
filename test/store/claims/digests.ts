import { expect, test } from 'vitest'
import type { StoredDigest } from '../../../src/store/records.ts'
import { HOUR, T0 } from '../../support/build-events.ts'
import { digestOf } from '../../../packages/demo/src/samples/digests.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, RELEASES } from '../given.ts'

const kept = (change: Partial<StoredDigest> = {}): Omit<StoredDigest, 'last'> => ({
  channel: BUILDS,
  schedule: { kind: 'weekly', weekday: 1, minute: 9 * 60, zone: 'Europe/Berlin' },
  setBy: 'U0ADA00001',
  setAt: T0,
  nextAt: T0 + HOUR,
  ...change,
})

const planned = { period: '2026-03-02-weekly', dueAt: T0 + HOUR, plannedAt: T0 + HOUR + 1, view: digestOf() }

/** The schedules of digests, and the content of the newest one. */
export function digestClaims(places: () => Places): void {
  test('a digest is read back unchanged, and a channel has at most one', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.saveDigest(kept()))
    expect(await read.digest(BUILDS)).toEqual({ ...kept(), last: null })
    const daily = kept({ schedule: { kind: 'daily', weekday: null, minute: 0, zone: 'UTC' }, setAt: T0 + 1 })
    await write((tx) => tx.saveDigest(daily))
    expect(await read.digest(BUILDS)).toEqual({ ...daily, last: null })
    expect(await read.digest(RELEASES)).toBeNull()
  })

  test('due digests come longest due first', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.saveDigest(kept()))
    await write((tx) => tx.saveDigest(kept({ channel: RELEASES, nextAt: T0 })))
    expect((await read.digestsDue(T0 + HOUR)).map(({ channel }) => channel)).toEqual([RELEASES, BUILDS])
    expect((await read.digestsDue(T0 + HOUR - 1)).map(({ channel }) => channel)).toEqual([RELEASES])
    expect((await read.digestsAfter(T0)).map(({ channel }) => channel)).toEqual([BUILDS])
  })

  test('a due time is used once, and the planned digest stays when the schedule is changed', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.saveDigest(kept()))
    const take = () => write((tx) => tx.advanceDigest(kept(), { nextAt: T0 + 2 * HOUR, planned }))
    expect([await take(), await take()]).toEqual([true, false])
    await write((tx) => tx.saveDigest(kept({ setAt: T0 + 5, nextAt: T0 + 3 * HOUR })))
    expect(await read.digest(BUILDS)).toEqual({ ...kept({ setAt: T0 + 5, nextAt: T0 + 3 * HOUR }), last: planned })
  })

  test('a due time of an old schedule is not used', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.saveDigest(kept({ setAt: T0 + 5 })))
    expect(await place.store.write((tx) => tx.advanceDigest(kept(), { nextAt: T0 + 2 * HOUR, planned: null }))).toBe(
      false,
    )
  })

  test('a digest is removed only once', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.saveDigest(kept()))
    const remove = () => place.store.write((tx) => tx.removeDigest(BUILDS))
    expect([await remove(), await remove(), await place.store.read.digest(BUILDS)]).toEqual([true, false, null])
  })
}
