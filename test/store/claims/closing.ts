import { expect, test } from 'vitest'
import { T0 } from '../../support/build-events.ts'
import { closeOnce, type Places } from '../../support/stores.ts'
import { runAside } from '../aside.ts'
import { several } from '../given.ts'

/** More than a pool has connections, and more than one batch of a group commit. */
const MANY = 300

/** How a store ends. */
export function closingClaims(places: () => Places): void {
  test('the close waits for the writes that were asked for before it', async () => {
    await using place = await places().open()
    const writes = several(MANY, (i) => place.store.write((tx) => tx.setLastDoneAt(`job-${i}`, T0)))
    const settled = Promise.allSettled(writes)
    await closeOnce(place.store)
    expect((await settled).filter(({ status }) => status === 'rejected')).toEqual([])
    expect(await place.sql('select name from job')).toHaveLength(MANY)
  })

  test('a write after the close is refused, and the process goes on', async () => {
    await using place = await places().open()
    expect(await runAside('write-closed', place.url).ended).toEqual({ code: 0, error: '' })
  })

  test('a store that was pinged and nothing else is closed all the same', async () => {
    await using place = await places().open()
    const store = place.another()
    await store.ping()
    await closeOnce(store)
    await expect(store.ping()).rejects.toThrow()
  })
}
