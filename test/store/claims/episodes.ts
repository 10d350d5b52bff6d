import { expect, test } from 'vitest'
import { idOrder, isIdDigits } from '../../../src/domain/ids.ts'
import { branchKey } from '../../../src/domain/builds/revision.ts'
import { HOUR, MINUTE, projectId, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { buildEvent, hear, REVISION, several, waiting } from '../given.ts'

const OTHER = 'ffffffffffffffffffffffffffffffff'
const MAIN = branchKey(projectId(WEB), 'main')

const uuid = (digit: string): string => `${digit.repeat(8)}-0000-0000-0000-000000000000`

/** At most so many newer builds are checked for having overtaken a build. */
const OVERTAKERS_MAX = 100

/** Build events on their cards, and the history of a branch. */
export function episodeClaims(places: () => Places): void {
  test('a build event has no card until it is placed, and then belongs to that card only', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    const [a, b] = [await hear(place.store), await hear(place.store)]
    await write((tx) => tx.placeEvent(a, 1))
    expect((await waiting(read)).map(({ seq }) => seq)).toEqual([b])
    expect((await read.eventsOfCard(REVISION, 1)).map(({ seq, cardNumber }) => [seq, cardNumber])).toEqual([[a, 1]])
    expect(await read.eventsOfCard(REVISION, 2)).toEqual([])
    expect(await read.eventsOfCard(OTHER, 1)).toEqual([])
    expect(await waiting(read, OTHER)).toEqual([])
  })

  test('build events without a card and those of a card come in order of receipt, whatever their times', async () => {
    await using place = await places().open()
    const seqs = [
      await hear(place.store, { after: HOUR }),
      await hear(place.store),
      await hear(place.store, { after: MINUTE }),
    ]
    expect((await waiting(place.store.read)).map(({ seq }) => seq)).toEqual(seqs)
    await place.store.write(async (tx) => {
      for (const seq of seqs.toReversed()) await tx.placeEvent(seq, 1)
    })
    expect((await place.store.read.eventsOfCard(REVISION, 1)).map(({ seq }) => seq)).toEqual(seqs)
  })

  test('the newest card is the one with the highest number, with its last time and its numbers of events and builds', async () => {
    await using place = await places().open()
    expect(await place.store.read.newestCard(REVISION)).toBeNull()
    for (const [cardNumber, after] of [
      [2, HOUR],
      [10, MINUTE],
      [10, 0],
      [9, 2 * HOUR],
    ] as const) {
      const seq = await hear(place.store, { after })
      await place.store.write((tx) => tx.placeEvent(seq, cardNumber))
    }
    await hear(place.store, { after: 3 * HOUR })
    await hear(place.store, { revisionKey: OTHER })
    expect(await place.store.read.newestCard(REVISION)).toMatchObject({
      cardNumber: 10,
      lastAt: T0 + MINUTE,
      buildEvents: 2,
      builds: 1,
    })
    expect(await place.store.read.newestCard(OTHER)).toBeNull()
  })

  test('builds are ordered by number, not by text', async () => {
    await using place = await places().open()
    const builds = ['10', '9007199254740993', '9', '10000000000000000000', '9007199254740992', '512']
    for (const build of builds) await hear(place.store, { build })
    const before = await place.store.read.verdictsBefore(MAIN, idOrder('10000000000000000000'), 10)
    const inOrder = builds.filter(isIdDigits).sort((a, b) => Number(BigInt(b) - BigInt(a)))
    expect(before.map(({ buildId }) => buildId)).toEqual(inOrder)
  })

  test('builds with UUIDs are ordered by when they began, and keep that order', async () => {
    await using place = await places().open()
    const heard = [
      { build: uuid('f'), after: MINUTE, word: 'initiated' },
      { build: uuid('a'), after: 2 * MINUTE },
      { build: uuid('c'), after: 3 * MINUTE, details: { startedAt: T0 } },
      { build: uuid('f'), after: HOUR, details: { startedAt: T0 - HOUR } },
    ]
    for (const said of heard) await hear(place.store, said)
    const before = await place.store.read.verdictsBefore(MAIN, '~', 10)
    expect(before.map(({ buildId }) => buildId)).toEqual([uuid('a'), uuid('f'), uuid('c')])
    const [started, ended] = await place.store.read.eventsOfBuild(projectId(WEB), uuid('f'))
    expect(ended!.buildOrder).toBe(started!.buildOrder)
  })

  test('a UUID comes after the builds that the project had by then, and a greater number after the UUID', async () => {
    await using place = await places().open()
    const { read } = place.store
    const build = async (id: string, project = WEB) => {
      const seq = await hear(place.store, { build: id, project })
      const heard = (await read.eventsOfBuild(project, id))[0]!
      const ids = { projectId: heard.projectId, buildId: heard.buildId, attempt: 1 }
      const stands = { status: 'failed', rawStatus: 'error', at: T0, buildUuid: null, committer: null } as const
      const where = { revisionKey: REVISION, cardNumber: 1, branch: 'main', buildOrder: heard.buildOrder }
      await place.store.write((tx) => tx.placeEvent(seq, 1))
      await place.store.write((tx) => tx.saveBuild({ ...ids, ...where, ...stands }))
    }
    await build('9999', '42')
    for (const id of ['512', uuid('b'), uuid('c'), '513', uuid('a'), '511']) await build(id)
    const newestFirst = [uuid('a'), '513', uuid('c'), uuid('b'), '512', '511']
    expect((await read.verdictsBefore(MAIN, '~', 10)).map(({ buildId: id }) => id)).toEqual(newestFirst)
    expect((await read.lastBuilds(WEB, 'main', 10)).map(({ buildId: id }) => id)).toEqual(newestFirst)
    expect((await read.newestBuild(WEB))?.buildId).toBe(uuid('a'))
    const { seq } = (await read.eventsOfBuild(WEB, '513'))[0]!
    expect(await read.isOvertaken(MAIN, idOrder('512'), seq)).toBe(true)
  })

  test('the verdicts before a build include those of the build itself', async () => {
    await using place = await places().open()
    for (const build of ['511', '512', '513']) await hear(place.store, { build })
    const { read } = place.store
    expect((await read.verdictsBefore(MAIN, idOrder('512'), 10)).map(({ buildId }) => buildId)).toEqual(['512', '511'])
  })

  test('verdicts are read up to a limit, nearest build first', async () => {
    await using place = await places().open()
    await Promise.all(several(9, (i) => hear(place.store, { build: String(508 + i) })))
    const { read } = place.store
    expect((await read.verdictsBefore(MAIN, idOrder('512'), 2)).map(({ buildId }) => buildId)).toEqual(['512', '511'])
  })

  test('a build is overtaken by a newer one that ended before it, and not by an older, later or unfinished one', async () => {
    await using place = await places().open()
    const { read } = place.store
    await hear(place.store, { build: '511' })
    await hear(place.store, { build: '514', word: 'initiated' })
    const seq = await hear(place.store)
    const later = await hear(place.store, { build: '513' })
    expect(await read.isOvertaken(MAIN, idOrder('512'), seq)).toBe(false)
    expect(await read.isOvertaken(MAIN, idOrder('512'), later)).toBe(false)
    expect(await read.isOvertaken(MAIN, idOrder('512'), later + 1)).toBe(true)
  })

  test.each([
    [OVERTAKERS_MAX, true],
    [OVERTAKERS_MAX + 1, false],
  ])('a newer build that ended before, number %i after this one, overtakes it: %s', async (nth, isSeen) => {
    await using place = await places().open()
    const first = await hear(place.store, { build: String(512 + nth) })
    await place.store.write(async (tx) => {
      for (const said of several(nth - 1, (i) => buildEvent({ build: String(513 + i) })))
        await tx.insertBuildEvent(...said)
    })
    expect(await place.store.read.isOvertaken(MAIN, idOrder('512'), first + 1)).toBe(isSeen)
  })

  test.each([
    ['success', true],
    ['error', true],
    ['failed', true],
    ['infrastructure_failure', true],
    ['initiated', false],
    ['waiting', false],
    ['stopped', false],
    ['ignored', false],
    ['blocked', false],
    ['another word', false],
  ])('%s is a verdict on the branch: %s', async (word, isOne) => {
    await using place = await places().open()
    await hear(place.store, { word })
    expect(await place.store.read.verdictsBefore(MAIN, idOrder('512'), 10)).toHaveLength(isOne ? 1 : 0)
  })

  test('a branch has no verdicts of other branches or projects, or of builds without a branch', async () => {
    await using place = await places().open()
    await hear(place.store, { branch: 'main2' })
    await hear(place.store, { branch: 'Main' })
    await hear(place.store, { branch: null })
    await hear(place.store, { project: '42' })
    expect(await place.store.read.verdictsBefore(MAIN, idOrder('512'), 10)).toEqual([])
  })
}
