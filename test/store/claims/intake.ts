import { expect, test } from 'vitest'
import { MINUTE, SECOND, T0 } from '../../support/facts.ts'
import type { Places } from '../../support/stores.ts'
import { LINEAGE, several } from '../given.ts'

const LIMIT = 10

/** The queue of lineages to take in. */
export function intakeClaims(places: () => Places): void {
  test('a lineage is due from its time on, and not before', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    expect(await place.store.read.dueIntake(T0 - 1, LIMIT)).toEqual([])
    expect(await place.store.read.dueIntake(T0, LIMIT)).toMatchObject([{ lineageKey: LINEAGE }])
  })

  test('the most urgent lineages come first, of equals the one that waits longest, as many as asked for', async () => {
    await using place = await places().open()
    const marks: [string, number, number][] = [
      ['old', T0, 2],
      ['late', T0 + SECOND, 0],
      ['early', T0, 0],
      ['middle', T0, 1],
    ] as const
    await place.store.write(async (tx) => {
      for (const mark of marks) await tx.wakeLineage(...mark)
    })
    const keys = async (limit: number) =>
      (await place.store.read.dueIntake(T0 + MINUTE, limit)).map(({ lineageKey }) => lineageKey)
    expect(await keys(LIMIT)).toEqual(['early', 'late', 'middle', 'old'])
    expect(await keys(2)).toEqual(['early', 'late'])
  })

  test('a second wake keeps the earlier time and the greater urgency', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    await write((tx) => tx.wakeLineage(LINEAGE, T0 + MINUTE, 2))
    expect(await place.sql('select priority from intake')).toEqual([{ priority: 1 }])
    expect(await read.dueIntake(T0, LIMIT)).toHaveLength(1)
    await write((tx) => tx.wakeLineage(LINEAGE, T0 - MINUTE, 0))
    expect(await place.sql('select priority from intake')).toEqual([{ priority: 0 }])
    expect(await read.dueIntake(T0 - MINUTE, LIMIT)).toHaveLength(1)
  })

  test('settling with the stamp that was read removes the mark', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    const mark = await read.intakeOf(LINEAGE)
    await write((tx) => tx.settleLineage(LINEAGE, mark!.stamp))
    expect(await read.intakeOf(LINEAGE)).toBeNull()
    expect(await read.dueIntake(T0, LIMIT)).toEqual([])
  })

  test('settling leaves a mark that was woken after its stamp was read, and every other lineage', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    await write((tx) => tx.wakeLineage('other', T0, 1))
    const [mark] = await read.dueIntake(T0, LIMIT)
    await write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    await write((tx) => tx.settleLineage(LINEAGE, mark!.stamp))
    expect((await read.dueIntake(T0, LIMIT)).map(({ lineageKey }) => lineageKey).sort()).toEqual([LINEAGE, 'other'])
  })

  test('the due list and the single mark name the same stamp', async () => {
    await using place = await places().open()
    await Promise.all(several(3, () => place.store.write((tx) => tx.wakeLineage(LINEAGE, T0, 1))))
    expect(await place.store.read.dueIntake(T0, LIMIT)).toEqual([await place.store.read.intakeOf(LINEAGE)])
  })

  // Somebody else settles in between, and the next wake counts from the start again: its stamp is one already seen.
  test('settling leaves a mark that was made anew after its stamp was read', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    const mark = await read.intakeOf(LINEAGE)
    await write((tx) => tx.settleLineage(LINEAGE, mark!.stamp))
    await write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    await write((tx) => tx.settleLineage(LINEAGE, mark!.stamp))
    expect(await read.intakeOf(LINEAGE)).not.toBeNull()
  })

  test('a postponed lineage is due at its new time and keeps its stamp', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    const before = await read.intakeOf(LINEAGE)
    await write((tx) => tx.postponeLineage(LINEAGE, T0 + MINUTE))
    expect(await read.dueIntake(T0 + MINUTE - 1, LIMIT)).toEqual([])
    expect(await read.dueIntake(T0 + MINUTE, LIMIT)).toEqual([before])
  })

  test('a wake brings a postponed lineage forward', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.wakeLineage(LINEAGE, T0, 1))
    await place.store.write((tx) => tx.postponeLineage(LINEAGE, T0 + MINUTE))
    await place.store.write((tx) => tx.wakeLineage(LINEAGE, T0 + SECOND, 1))
    expect(await place.store.read.dueIntake(T0 + SECOND, LIMIT)).toHaveLength(1)
  })

  test('postponing or settling a lineage that has no mark makes none', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.postponeLineage(LINEAGE, T0))
    await place.store.write((tx) => tx.settleLineage(LINEAGE, 1))
    expect(await place.store.read.intakeOf(LINEAGE)).toBeNull()
  })
}
