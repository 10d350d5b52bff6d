import { expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { dueKeys, buildEvent, hear, REVISION, several } from '../given.ts'

const LIMIT = 10

/** Build events looked at in one round, for each revision that is asked for. */
const EVENTS_PER_REVISION = 4

/** The queue of revisions to take in: those with build events that wait, and those that were woken. */
export function ingestClaims(places: () => Places): void {
  test('a revision is due from its time on, and not before', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    expect(await dueKeys(place.store.read, T0 - 1, LIMIT)).toEqual([])
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual([REVISION])
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
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await write((tx) => tx.wakeRevision(REVISION, T0 + MINUTE, 2))
    expect(await place.sql('select priority from intake')).toEqual([{ priority: 1 }])
    expect(await dueKeys(read, T0, LIMIT)).toHaveLength(1)
    await write((tx) => tx.wakeRevision(REVISION, T0 - MINUTE, 0))
    expect(await place.sql('select priority from intake')).toEqual([{ priority: 0 }])
    expect(await dueKeys(read, T0 - MINUTE, LIMIT)).toHaveLength(1)
  })

  test('settling with the stamp that was read removes the mark', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    const mark = await read.ingestOf(REVISION)
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    expect(await read.ingestOf(REVISION)).toBeNull()
    expect(await dueKeys(read, T0, LIMIT)).toEqual([])
  })

  test('settling leaves a mark that was woken after its stamp was read, and every other revision', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await write((tx) => tx.wakeRevision('other', T0, 1))
    const mark = await read.ingestOf(REVISION)
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    expect((await dueKeys(read, T0, LIMIT)).sort()).toEqual([REVISION, 'other'])
  })

  test('a build event is by itself the mark that its revision has news, until it is placed', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    const seq = await hear(place.store, { after: MINUTE })
    expect(await dueKeys(read, T0, LIMIT)).toEqual([REVISION])
    expect(await read.ingestOf(REVISION)).toBeNull()
    await write((tx) => tx.placeEvent(seq, 1))
    expect(await dueKeys(read, T0 + HOUR, LIMIT)).toEqual([])
  })

  test('a placed build event leaves the others of its revision due', async () => {
    await using place = await places().open()
    const seq = await hear(place.store)
    await hear(place.store)
    await place.store.write((tx) => tx.placeEvent(seq, 1))
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual([REVISION])
  })

  test('build events wait in the order of their urgency, of equals in order of receipt, each revision named once', async () => {
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

  test('build events and wakes stand in one queue', async () => {
    await using place = await places().open()
    await hear(place.store, { revisionKey: 'passed', priority: 1, after: SECOND })
    await hear(place.store, { revisionKey: 'failed', priority: 0, after: SECOND })
    await place.store.write((tx) => tx.wakeRevision('woken', T0, 1))
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual(['failed', 'woken', 'passed'])
  })

  test('a due revision names the builds whose build events wait, each once; one that was only woken names none', async () => {
    await using place = await places().open()
    const seqs: number[] = []
    for (const build of ['513', '512', '513', '514']) seqs.push(await hear(place.store, { build }))
    await place.store.write((tx) => tx.placeEvent(seqs[3]!, 1))
    await place.store.write((tx) => tx.wakeRevision('woken', T0, 2))
    expect(await place.store.read.dueIngest(T0, LIMIT)).toEqual([
      { revisionKey: REVISION, buildKeys: ['41/513', '41/512'] },
      { revisionKey: 'woken', buildKeys: [] },
    ])
  })

  test('a revision that is woken and has build events is due once', async () => {
    await using place = await places().open()
    await hear(place.store)
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual([REVISION])
  })

  test.each([
    [EVENTS_PER_REVISION, ['loud', 'quiet']],
    [EVENTS_PER_REVISION * 2, ['loud']],
  ])('a revision with %i build events before the others leaves %j in one round of two', async (buildEvents, due) => {
    await using place = await places().open()
    await place.store.write(async (tx) => {
      for (const heard of several(buildEvents, () => buildEvent({ revisionKey: 'loud', priority: 0 })))
        await tx.insertBuildEvent(...heard)
    })
    await hear(place.store, { revisionKey: 'quiet', priority: 1 })
    expect(await dueKeys(place.store.read, T0, 2)).toEqual(due)
  })

  // Somebody else settles in between, and the next wake counts from the start again: its stamp is one already seen.
  test('settling leaves a mark that was made anew after its stamp was read', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    const mark = await read.ingestOf(REVISION)
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    expect(await read.ingestOf(REVISION)).not.toBeNull()
  })

  test('a postponed revision is due at its new time, and its mark keeps its stamp', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    const before = await read.ingestOf(REVISION)
    await write((tx) => tx.postponeRevision(REVISION, T0 + MINUTE))
    expect(await dueKeys(read, T0 + MINUTE - 1, LIMIT)).toEqual([])
    expect(await dueKeys(read, T0 + MINUTE, LIMIT)).toEqual([REVISION])
    expect(await read.ingestOf(REVISION)).toEqual(before)
  })

  test('postponing puts off the build events that wait and those that come meanwhile, and nobody else’s', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await hear(place.store)
    await write((tx) => tx.postponeRevision(REVISION, T0 + MINUTE))
    await hear(place.store, { priority: 0 })
    await hear(place.store, { revisionKey: 'other' })
    expect(await dueKeys(read, T0 + MINUTE - 1, LIMIT)).toEqual(['other'])
    expect((await dueKeys(read, T0 + MINUTE, LIMIT)).sort()).toEqual([REVISION, 'other'])
  })

  test('a revision that was put off stays due by its build events alone once its mark is settled', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await hear(place.store)
    await write((tx) => tx.postponeRevision(REVISION, T0 + MINUTE))
    const mark = await read.ingestOf(REVISION)
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    expect(await dueKeys(read, T0, LIMIT)).toEqual([REVISION])
  })

  test('a wake brings a postponed revision forward', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await place.store.write((tx) => tx.postponeRevision(REVISION, T0 + MINUTE))
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0 + SECOND, 1))
    expect(await dueKeys(place.store.read, T0 + SECOND, LIMIT)).toHaveLength(1)
  })

  test('postponing makes a mark where there is none; settling makes none', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.settleRevision(REVISION, 1))
    expect(await place.store.read.ingestOf(REVISION)).toBeNull()
    await place.store.write((tx) => tx.postponeRevision(REVISION, T0))
    expect(await place.store.read.ingestOf(REVISION)).toMatchObject({ revisionKey: REVISION })
  })

  test('what waits is counted, build events and wakes', async () => {
    await using place = await places().open()
    const seq = await hear(place.store)
    await hear(place.store)
    await place.store.write((tx) => tx.wakeRevision('woken', T0, 1))
    expect(await place.store.read.backlog()).toMatchObject({ ingest: 3 })
    await place.store.write((tx) => tx.placeEvent(seq, 1))
    expect(await place.store.read.backlog()).toMatchObject({ ingest: 2 })
  })
}
