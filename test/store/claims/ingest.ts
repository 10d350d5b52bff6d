import { expect, test, vi } from 'vitest'
import { HOUR, MINUTE, SECOND, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { dueKeys, buildEvent, hear, REVISION, several } from '../given.ts'

const LIMIT = 10

/** At most so many build events are read for each revision that is wanted. */
const EVENTS_PER_REVISION = 4

/** The queue of revisions to ingest: those with build events that wait, and those that were woken. */
export function ingestClaims(places: () => Places): void {
  test('a revision is due at its time, and not before', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    expect(await dueKeys(place.store.read, T0 - 1, LIMIT)).toEqual([])
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual([REVISION])
  })

  test('when the next revision is due is known, without those that are due', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    expect(await read.nextIngestAt(T0)).toBeNull()
    await write((tx) => tx.wakeRevision('due', T0, 1))
    await write((tx) => tx.wakeRevision('later', T0 + MINUTE, 1))
    await write((tx) => tx.wakeRevision('soon', T0 + SECOND, 2))
    expect(await read.nextIngestAt(T0)).toBe(T0 + SECOND)
    expect(await read.nextIngestAt(T0 + MINUTE)).toBeNull()
  })

  test('a write that makes something due is announced once it can be read; others and failed ones are not', async () => {
    await using place = await places().open()
    const { store } = place
    const heard: string[] = []
    const stop = store.listen((news) => void heard.push(news))
    // On a server, listening begins with a hint that anything may be due.
    await vi.waitFor(() => expect(heard).toEqual(store.shared ? ['anything'] : []))
    heard.length = 0
    await store.write((tx) => tx.setLastDoneAt('job', T0))
    const failing = store.write(async (tx) => {
      await tx.wakeRevision(REVISION, T0, 1)
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(heard).toEqual([])
    await store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    expect(heard).toEqual(['ingest'])
    expect(await dueKeys(store.read, T0, LIMIT)).toEqual([REVISION])
    await stop()
    await store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    expect(heard).toEqual(['ingest'])
  })

  test('the most urgent revisions come first, then the longest waiting ones, up to a limit', async () => {
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

  test('settling keeps a mark that was woken after its stamp was read, and all other revisions', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await write((tx) => tx.wakeRevision('other', T0, 1))
    const mark = await read.ingestOf(REVISION)
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    expect((await dueKeys(read, T0, LIMIT)).sort()).toEqual([REVISION, 'other'])
  })

  test('a build event makes its revision due by itself, until it is placed', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    const seq = await hear(place.store, { after: MINUTE })
    expect(await dueKeys(read, T0, LIMIT)).toEqual([REVISION])
    expect(await read.ingestOf(REVISION)).toBeNull()
    await write((tx) => tx.placeEvent(seq, 1))
    expect(await dueKeys(read, T0 + HOUR, LIMIT)).toEqual([])
  })

  test('placing one build event leaves the others of its revision due', async () => {
    await using place = await places().open()
    const seq = await hear(place.store)
    await hear(place.store)
    await place.store.write((tx) => tx.placeEvent(seq, 1))
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual([REVISION])
  })

  test('build events come by urgency, then in order of receipt, each revision once', async () => {
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

  test('build events and wakes share one queue', async () => {
    await using place = await places().open()
    await hear(place.store, { revisionKey: 'passed', priority: 1, after: SECOND })
    await hear(place.store, { revisionKey: 'failed', priority: 0, after: SECOND })
    await place.store.write((tx) => tx.wakeRevision('woken', T0, 1))
    expect(await dueKeys(place.store.read, T0, LIMIT)).toEqual(['failed', 'woken', 'passed'])
  })

  test('a due revision has the builds whose events wait, each once, or none if it was only woken', async () => {
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

  test('a revision that was woken and has build events is due once', async () => {
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

  // Another process settles in between. The next wake starts again with the first stamp, which was read before.
  test('settling keeps a mark that was made again after its stamp was read', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    const mark = await read.ingestOf(REVISION)
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    expect(await read.ingestOf(REVISION)).not.toBeNull()
  })

  test('a postponed revision is due at its new time, and keeps its stamp', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.wakeRevision(REVISION, T0, 1))
    const before = await read.ingestOf(REVISION)
    await write((tx) => tx.postponeRevision(REVISION, T0 + MINUTE))
    expect(await dueKeys(read, T0 + MINUTE - 1, LIMIT)).toEqual([])
    expect(await dueKeys(read, T0 + MINUTE, LIMIT)).toEqual([REVISION])
    expect(await read.ingestOf(REVISION)).toEqual(before)
  })

  test("postponing also delays the revision's waiting and new build events, and no other revision", async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await hear(place.store)
    await write((tx) => tx.postponeRevision(REVISION, T0 + MINUTE))
    await hear(place.store, { priority: 0 })
    await hear(place.store, { revisionKey: 'other' })
    expect(await dueKeys(read, T0 + MINUTE - 1, LIMIT)).toEqual(['other'])
    expect((await dueKeys(read, T0 + MINUTE, LIMIT)).sort()).toEqual([REVISION, 'other'])
  })

  test('after its mark is settled, a postponed revision is due because of its build events', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await hear(place.store)
    await write((tx) => tx.postponeRevision(REVISION, T0 + MINUTE))
    const mark = await read.ingestOf(REVISION)
    await write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    expect(await dueKeys(read, T0, LIMIT)).toEqual([REVISION])
  })

  test('a wake makes a postponed revision due earlier', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await place.store.write((tx) => tx.postponeRevision(REVISION, T0 + MINUTE))
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0 + SECOND, 1))
    expect(await dueKeys(place.store.read, T0 + SECOND, LIMIT)).toHaveLength(1)
  })

  test('postponing creates a missing mark; settling does not', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.settleRevision(REVISION, 1))
    expect(await place.store.read.ingestOf(REVISION)).toBeNull()
    await place.store.write((tx) => tx.postponeRevision(REVISION, T0))
    expect(await place.store.read.ingestOf(REVISION)).toMatchObject({ revisionKey: REVISION })
  })

  test('the backlog counts build events and wakes', async () => {
    await using place = await places().open()
    const seq = await hear(place.store)
    await hear(place.store)
    await place.store.write((tx) => tx.wakeRevision('woken', T0, 1))
    expect(await place.store.read.backlog(T0)).toMatchObject({ ingest: 3 })
    await place.store.write((tx) => tx.placeEvent(seq, 1))
    expect(await place.store.read.backlog(T0)).toMatchObject({ ingest: 2 })
  })
}
