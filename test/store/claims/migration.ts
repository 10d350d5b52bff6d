import { expect, test } from 'vitest'
import type { Places } from '../../support/stores.ts'
import { hear, several, waiting } from '../given.ts'
import { runAside } from '../aside.ts'

/** Processes that start on one database at the same time. */
const PROCESSES = 4

const MIGRATIONS = [
  { name: '0001-first' },
  { name: '0002-requests' },
  { name: '0003-interactions' },
  { name: '0004-projects-and-people' },
  { name: '0005-upkeep' },
  { name: '0006-several-processes' },
  { name: '0007-acknowledged' },
  { name: '0008-first-looks' },
  { name: '0009-build-numbers' },
  { name: '0010-breakages' },
  { name: '0011-reports' },
  { name: '0012-digests' },
  { name: '0013-reminders' },
  { name: '0014-delivered-names' },
  { name: '0015-many-projects' },
  { name: '0016-ends' },
  { name: '0017-delivery-keys' },
  { name: '0018-repositories' },
  { name: '0019-late-and-plain' },
  { name: '0020-moved-channels' },
  { name: '0021-details' },
  { name: '0022-judgements' },
  { name: '0023-counted-and-named' },
]

/**
 * @param rounds how often the race is repeated, since a single one may be won by luck
 */
export function migrationClaims(places: () => Places, rounds = 1): void {
  test('every query fails before the first migration, and works after it', async () => {
    await using place = await places().openEmpty()
    await expect(waiting(place.store.read)).rejects.toThrow()
    await place.store.migrate()
    expect(await waiting(place.store.read)).toEqual([])
  })

  test('a second migration changes nothing and keeps all rows', async () => {
    await using place = await places().open()
    await hear(place.store)
    await place.store.migrate()
    await place.another().migrate()
    expect(await waiting(place.store.read)).toHaveLength(1)
    expect(await place.sql('select name from kysely_migration order by name')).toEqual(MIGRATIONS)
  })

  test('processes that start at the same time all find the tables, created once', async () => {
    for (const _ of several(rounds, (i) => i)) {
      await using place = await places().openEmpty()
      const starting = several(PROCESSES, () => runAside('migrate', place.url))
      for (const { lines } of starting) expect(await lines.next()).toMatchObject({ value: 'ready' })
      for (const { go } of starting) go()
      const ended = await Promise.all(starting.map((process) => process.ended))
      expect(ended).toEqual(several(PROCESSES, () => ({ code: 0, error: '' })))
      expect(await place.sql('select name from kysely_migration order by name')).toEqual(MIGRATIONS)
    }
  })
}
