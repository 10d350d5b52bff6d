import { expect, test } from 'vitest'
import { HOUR, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'

/** When each job was last done. */
export function jobClaims(places: () => Places): void {
  test('a job has the time of its last run, and none before the first one', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    expect(await read.lastDoneAt('sweep')).toBeNull()
    await write((tx) => tx.setLastDoneAt('sweep', T0))
    await write((tx) => tx.setLastDoneAt('sweep', T0 + HOUR))
    expect(await read.lastDoneAt('sweep')).toBe(T0 + HOUR)
    expect(await read.lastDoneAt('digest')).toBeNull()
  })
}
