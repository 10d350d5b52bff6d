import { expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND, T0 } from '../../support/facts.ts'
import type { Places } from '../../support/stores.ts'
import { dueKeys, fact, hear, LINEAGE, several } from '../given.ts'

const LIMIT = 10

/** Facts looked at in one round, for each revision that is asked for. */
const FACTS_PER_LINEAGE = 4

/** The queue of revisions to take in: those with facts that wait, and those that were woken. */
export function intakeClaims(places: () => Places): void {
  test('a revision is due from its time on, and not before', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    expect(await dueKeys(place.store.read, T0 - 1, LIMIT)).toEqual([])
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual([LINEAGE])
  })

  test('the most urgent revisions come first, of equals the one that waits longest, as many as asked for', async () => {
    await using place = await places().open()
    const marks: [string, number, number][] = [
      ['old', T0, 2],
      ['late', T0 + SECOND, 0],
      ['early', T0, 0],
      ['middle', T0, 1],
    ] as const
    await place.store.write(async (tx) => {
      for (const mark of marks) await tx.wakeRevision(...mark)
    })
    expect(await dueKeys(place.store.read, T0 + MINUTE, LIMIT)).toEqual(['early', 'late', 'middle', 'old'])
    expect(await dueKeys(place.store.read, T0 + MINUTE, 2)).toEqual(['early', 'late'])
  })

  test('a second wake keeps the earlier time and the greater urgency', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    await write((tx) => tx.wakeRevision(LINEAGE, T0 + MINUTE, 2))
    expect(await place.sql('select priority from intake')).toEqual([{ priority: 1 }])
    expect(await dueKeys(read, T0, LIMIT)).toHaveLength(1)
    await write((tx) => tx.wakeRevision(LINEAGE, T0 - MINUTE, 0))
    expect(await place.sql('select priority from intake')).toEqual([{ priority: 0 }])
    expect(await dueKeys(read, T0 - MINUTE, LIMIT)).toHaveLength(1)
  })

  test('settling with the stamp that was read removes the mark', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    const mark = await read.intakeOf(LINEAGE)
    await write((tx) => tx.settleRevision(LINEAGE, mark!.stamp))
    expect(await read.intakeOf(LINEAGE)).toBeNull()
    expect(await dueKeys(read, T0, LIMIT)).toEqual([])
  })

  test('settling leaves a mark that was woken after its stamp was read, and every other revision', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    await write((tx) => tx.wakeRevision('other', T0, 1))
    const mark = await read.intakeOf(LINEAGE)
    await write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    await write((tx) => tx.settleRevision(LINEAGE, mark!.stamp))
    expect((await dueKeys(read, T0, LIMIT)).sort()).toEqual([LINEAGE, 'other'])
  })

  test('a fact is by itself the mark that its revision has news, until it is placed', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    const seq = await hear(place.store, { after: MINUTE })
    expect(await dueKeys(read, T0, LIMIT)).toEqual([LINEAGE])
    expect(await read.intakeOf(LINEAGE)).toBeNull()
    await write((tx) => tx.placeFact(seq, 1))
    expect(await dueKeys(read, T0 + HOUR, LIMIT)).toEqual([])
  })

  test('a placed fact leaves the others of its revision due', async () => {
    await using place = await places().open()
    const seq = await hear(place.store)
    await hear(place.store)
    await place.store.write((tx) => tx.placeFact(seq, 1))
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual([LINEAGE])
  })

  test('facts wait in the order of their urgency, of equals in order of receipt, each revision named once', async () => {
    await using place = await places().open()
    await hear(place.store, { revisionKey: 'running', priority: 2 })
    await hear(place.store, { revisionKey: 'passed', priority: 1, after: MINUTE })
    await hear(place.store, { revisionKey: 'failed too', priority: 0, after: 2 * MINUTE })
    await hear(place.store, { revisionKey: 'failed', priority: 0, after: 3 * MINUTE })
    await hear(place.store, { revisionKey: 'running', priority: 0, after: 4 * MINUTE })
    const { read } = place.store
    expect(await dueKeys(read, T0, LIMIT)).toEqual(['failed too', 'failed', 'running', 'passed'])
    expect(await dueKeys(read, T0, 2)).toEqual(['failed too', 'failed'])
  })

  test('facts and wakes stand in one queue', async () => {
    await using place = await places().open()
    await hear(place.store, { revisionKey: 'passed', priority: 1, after: SECOND })
    await hear(place.store, { revisionKey: 'failed', priority: 0, after: SECOND })
    await place.store.write((tx) => tx.wakeRevision('woken', T0, 1))
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual(['failed', 'woken', 'passed'])
  })

  test('a due revision names the builds whose facts wait, each once; one that was only woken names none', async () => {
    await using place = await places().open()
    const seqs: number[] = []
    for (const build of ['513', '512', '513', '514']) seqs.push(await hear(place.store, { build }))
    await place.store.write((tx) => tx.placeFact(seqs[3]!, 1))
    await place.store.write((tx) => tx.wakeRevision('woken', T0, 2))
    expect(await place.store.read.dueIntake(T0, LIMIT)).toEqual([
      { revisionKey: LINEAGE, buildKeys: ['41/513', '41/512'] },
      { revisionKey: 'woken', buildKeys: [] },
    ])
  })

  test('a revision that is woken and has facts is due once', async () => {
    await using place = await places().open()
    await hear(place.store)
    await place.store.write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual([LINEAGE])
  })

  test.each([
    [FACTS_PER_LINEAGE, ['loud', 'quiet']],
    [FACTS_PER_LINEAGE * 2, ['loud']],
  ])('a revision with %i facts before the others leaves %j in one round of two', async (facts, due) => {
    await using place = await places().open()
    await place.store.write(async (tx) => {
      for (const heard of several(facts, () => fact({ revisionKey: 'loud', priority: 0 })))
        await tx.insertFact(...heard)
    })
    await hear(place.store, { revisionKey: 'quiet', priority: 1 })
    expect(await dueKeys(place.store.read, T0, 2)).toEqual(due)
  })

  // Somebody else settles in between, and the next wake counts from the start again: its stamp is one already seen.
  test('settling leaves a mark that was made anew after its stamp was read', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    const mark = await read.intakeOf(LINEAGE)
    await write((tx) => tx.settleRevision(LINEAGE, mark!.stamp))
    await write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    await write((tx) => tx.settleRevision(LINEAGE, mark!.stamp))
    expect(await read.intakeOf(LINEAGE)).not.toBeNull()
  })

  test('a postponed revision is due at its new time, and its mark keeps its stamp', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    const before = await read.intakeOf(LINEAGE)
    await write((tx) => tx.postponeRevision(LINEAGE, T0 + MINUTE))
    expect(await dueKeys(read, T0 + MINUTE - 1, LIMIT)).toEqual([])
    expect(await dueKeys(read, T0 + MINUTE, LIMIT)).toEqual([LINEAGE])
    expect(await read.intakeOf(LINEAGE)).toEqual(before)
  })

  test('postponing puts off the facts that wait and those that come meanwhile, and nobody else’s', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await hear(place.store)
    await write((tx) => tx.postponeRevision(LINEAGE, T0 + MINUTE))
    await hear(place.store, { priority: 0 })
    await hear(place.store, { revisionKey: 'other' })
    expect(await dueKeys(read, T0 + MINUTE - 1, LIMIT)).toEqual(['other'])
    expect((await dueKeys(read, T0 + MINUTE, LIMIT)).sort()).toEqual([LINEAGE, 'other'])
  })

  test('a revision that was put off stays due by its facts alone once its mark is settled', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await hear(place.store)
    await write((tx) => tx.postponeRevision(LINEAGE, T0 + MINUTE))
    const mark = await read.intakeOf(LINEAGE)
    await write((tx) => tx.settleRevision(LINEAGE, mark!.stamp))
    expect(await dueKeys(read, T0, LIMIT)).toEqual([LINEAGE])
  })

  test('a wake brings a postponed revision forward', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.wakeRevision(LINEAGE, T0, 1))
    await place.store.write((tx) => tx.postponeRevision(LINEAGE, T0 + MINUTE))
    await place.store.write((tx) => tx.wakeRevision(LINEAGE, T0 + SECOND, 1))
    expect(await dueKeys(place.store.read, T0 + SECOND, LIMIT)).toHaveLength(1)
  })

  test('postponing makes a mark where there is none; settling makes none', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.settleRevision(LINEAGE, 1))
    expect(await place.store.read.intakeOf(LINEAGE)).toBeNull()
    await place.store.write((tx) => tx.postponeRevision(LINEAGE, T0))
    expect(await place.store.read.intakeOf(LINEAGE)).toMatchObject({ revisionKey: LINEAGE })
  })

  test('what waits is counted, facts and wakes', async () => {
    await using place = await places().open()
    const seq = await hear(place.store)
    await hear(place.store)
    await place.store.write((tx) => tx.wakeRevision('woken', T0, 1))
    expect(await place.store.read.backlog()).toMatchObject({ intake: 3 })
    await place.store.write((tx) => tx.placeFact(seq, 1))
    expect(await place.store.read.backlog()).toMatchObject({ intake: 2 })
  })
}
