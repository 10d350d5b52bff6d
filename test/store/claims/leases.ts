import { expect, test } from 'vitest'
import { MINUTE, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import type { Store } from '../../../src/store/store.ts'

const LONGEST = MINUTE

const take = ({ write }: Store, heldBy: string, now = T0, name = 'prune'): Promise<boolean> =>
  write((tx) => tx.takeLease({ name, heldBy, heldUntil: now + LONGEST }, { now, longestMs: LONGEST }))

/** One of several processes holds a lease. */
export function leaseClaims(places: () => Places): void {
  test('one process gets a lease, and no other until it has expired', async () => {
    await using place = await places().open()
    const [store, other] = [place.store, place.another()]
    expect(await take(store, 'process-1')).toBe(true)
    expect(await take(other, 'process-2')).toBe(false)
    expect(await take(other, 'process-2', T0 + LONGEST - 1)).toBe(false)
    expect(await take(other, 'process-2', T0 + LONGEST)).toBe(true)
    expect(await take(store, 'process-1', T0 + LONGEST)).toBe(false)
  })

  test('its holder renews it, and it expires later', async () => {
    await using place = await places().open()
    const { write } = place.store
    const renew = (heldBy: string) =>
      write((tx) => tx.renewLease({ name: 'prune', heldBy, heldUntil: T0 + 2 * LONGEST }))
    await take(place.store, 'process-1')
    expect([await renew('process-2'), await renew('process-1')]).toEqual([false, true])
    expect(await take(place.store, 'process-2', T0 + LONGEST)).toBe(false)
    expect(await take(place.store, 'process-2', T0 + 2 * LONGEST)).toBe(true)
    expect(await renew('process-1')).toBe(false)
  })

  test('it cannot be taken while a transaction of its holder relies on it', async () => {
    await using place = await places().open()
    await take(place.store, 'process-1')
    const order: string[] = []
    const other = place.another()
    let taking: Promise<unknown> = Promise.resolve()
    await place.store.write(async (tx) => {
      expect(await tx.holdsLease({ name: 'prune', heldBy: 'process-1' })).toBe(true)
      taking = take(other, 'process-2', T0 + LONGEST).then(() => order.push('taken'))
      await new Promise((resolve) => setTimeout(resolve, 100))
      order.push('relied on')
    })
    await taking
    expect(order).toEqual(['relied on', 'taken'])
    expect(await place.store.write((tx) => tx.holdsLease({ name: 'prune', heldBy: 'process-1' }))).toBe(false)
  })

  test('a lease is released at once by its holder, and by no one else', async () => {
    await using place = await places().open()
    const { write } = place.store
    await take(place.store, 'process-1')
    await write((tx) => tx.releaseLease({ name: 'prune', heldBy: 'process-2' }))
    expect(await take(place.store, 'process-2')).toBe(false)
    await write((tx) => tx.releaseLease({ name: 'prune', heldBy: 'process-1' }))
    expect(await take(place.store, 'process-2')).toBe(true)
  })

  test('leases with different names are independent', async () => {
    await using place = await places().open()
    await take(place.store, 'process-1')
    expect(await take(place.store, 'process-2', T0, 'refresh-projects')).toBe(true)
  })

  test('a lease that reaches too far ahead, from a wrong clock, counts as free', async () => {
    await using place = await places().open()
    await take(place.store, 'process-1', T0 + 24 * 60 * MINUTE)
    expect(await take(place.store, 'process-2')).toBe(true)
  })

  test('one of many concurrent requests gets the lease', async () => {
    await using place = await places().open()
    const stores = [place.store, place.another(), place.another()]
    const taken = await Promise.all(
      stores.flatMap((store, i) => [1, 2, 3].map((n) => take(store, `process-${i}-${n}`))),
    )
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(1)
  })
}
