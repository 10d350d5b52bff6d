import { expect, test } from 'vitest'
import type { Places } from '../../support/stores.ts'
import { hear, several, waiting } from '../given.ts'
import { runAside } from '../aside.ts'

/** Processes that start on one database at the same moment. */
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
]

/**
 * @param rounds who comes first is luck; who is lucky so often is not
 */
export function migrationClaims(places: () => Places, rounds = 1): void {
  test('a database without tables answers no question before it is migrated, and every one after', async () => {
    await using place = await places().openEmpty()
    await expect(waiting(place.store.read)).rejects.toThrow()
    await place.store.migrate()
    expect(await waiting(place.store.read)).toEqual([])
  })

  test('migrating again changes nothing and keeps what is there', async () => {
    await using place = await places().open()
    await hear(place.store)
    await place.store.migrate()
    await place.another().migrate()
    expect(await waiting(place.store.read)).toHaveLength(1)
    expect(await place.sql('select name from kysely_migration order by name')).toEqual(MIGRATIONS)
  })

  test('processes that start at the same moment all find the tables, made once', async () => {
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
