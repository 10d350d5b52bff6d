import { expect, test } from 'vitest'
import { T0 } from '../../support/build-events.ts'
import { closeOnce, type Places } from '../../support/stores.ts'
import { runAside } from '../aside.ts'
import { several } from '../given.ts'

/** More than a pool has connections, and more than one batch of the group commit. */
const MANY = 300

/** Closing a store. */
export function closingClaims(places: () => Places): void {
  test('closing waits for the writes that began before it', async () => {
    await using place = await places().open()
    const writes = several(MANY, (i) => place.store.write((tx) => tx.setLastDoneAt(`job-${i}`, T0)))
    const settled = Promise.allSettled(writes)
    await closeOnce(place.store)
    expect((await settled).filter(({ status }) => status === 'rejected')).toEqual([])
    expect(await place.sql('select name from job')).toHaveLength(MANY)
  })

  test('a write after closing is rejected, and the process goes on', async () => {
    await using place = await places().open()
    expect(await runAside('write-closed', place.url).ended).toEqual({ code: 0, error: '' })
  })

  test('a store that was only pinged can be closed', async () => {
    await using place = await places().open()
    const store = place.another()
    await store.ping()
    await closeOnce(store)
    await expect(store.ping()).rejects.toThrow()
  })
}
