import { expect, test } from 'vitest'
import { idOrder, isIdDigits } from '../../../src/domain/ids.ts'
import { branchKey } from '../../../src/domain/lineage.ts'
import { HOUR, MINUTE, projectId, T0, WEB } from '../../support/facts.ts'
import type { Places } from '../../support/stores.ts'
import { hear, LINEAGE, several } from '../given.ts'

const OTHER = 'ffffffffffffffffffffffffffffffff'
const MAIN = branchKey(projectId(WEB), 'main')

/** Facts on their cards, and the history of a branch. */
export function episodeClaims(places: () => Places): void {
  test('a fact is unplaced until it is placed, and then belongs to its episode alone', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    const [a, b] = [await hear(place.store), await hear(place.store)]
    await write((tx) => tx.placeFact(a, 1))
    expect((await read.unplacedFacts(LINEAGE)).map(({ seq }) => seq)).toEqual([b])
    expect((await read.factsOfEpisode(LINEAGE, 1)).map(({ seq, episode }) => [seq, episode])).toEqual([[a, 1]])
    expect(await read.factsOfEpisode(LINEAGE, 2)).toEqual([])
    expect(await read.factsOfEpisode(OTHER, 1)).toEqual([])
    expect(await read.unplacedFacts(OTHER)).toEqual([])
  })

  test('unplaced facts and those of an episode come in order of receipt, whatever time they bear', async () => {
    await using place = await places().open()
    const seqs = [
      await hear(place.store, { after: HOUR }),
      await hear(place.store),
      await hear(place.store, { after: MINUTE }),
    ]
    expect((await place.store.read.unplacedFacts(LINEAGE)).map(({ seq }) => seq)).toEqual(seqs)
    await place.store.write(async (tx) => {
      for (const seq of seqs.toReversed()) await tx.placeFact(seq, 1)
    })
    expect((await place.store.read.factsOfEpisode(LINEAGE, 1)).map(({ seq }) => seq)).toEqual(seqs)
  })

  test('the newest episode is the highest one, with its last moment and how many facts it holds', async () => {
    await using place = await places().open()
    expect(await place.store.read.newestEpisode(LINEAGE)).toBeNull()
    for (const [episode, after] of [
      [2, HOUR],
      [10, MINUTE],
      [10, 0],
      [9, 2 * HOUR],
    ] as const) {
      const seq = await hear(place.store, { after })
      await place.store.write((tx) => tx.placeFact(seq, episode))
    }
    await hear(place.store, { after: 3 * HOUR })
    await hear(place.store, { lineageKey: OTHER })
    expect(await place.store.read.newestEpisode(LINEAGE)).toEqual({ episode: 10, lastAt: T0 + MINUTE, facts: 2 })
    expect(await place.store.read.newestEpisode(OTHER)).toBeNull()
  })

  test('builds are in the order of their numbers, not of their digits', async () => {
    await using place = await places().open()
    const builds = ['10', '9007199254740993', '9', '10000000000000000000', '9007199254740992', '512']
    for (const build of builds) await hear(place.store, { build })
    const before = await place.store.read.verdictsBefore(MAIN, idOrder('10000000000000000000'), 10)
    const inOrder = builds.filter(isIdDigits).sort((a, b) => Number(BigInt(b) - BigInt(a)))
    expect(before.map(({ buildId }) => buildId)).toEqual(inOrder)
    const after = await place.store.read.verdictsAfter(MAIN, idOrder('9'), 10)
    expect(after.map(({ buildId }) => buildId)).toEqual(inOrder.toReversed().slice(1))
  })

  test('the verdicts before a build include its own, those after it do not', async () => {
    await using place = await places().open()
    for (const build of ['511', '512', '513']) await hear(place.store, { build, lineageKey: `lineage-of-${build}` })
    const { read } = place.store
    expect((await read.verdictsBefore(MAIN, idOrder('512'), 10)).map(({ buildId }) => buildId)).toEqual(['512', '511'])
    expect((await read.verdictsAfter(MAIN, idOrder('512'), 10)).map(({ buildId }) => buildId)).toEqual(['513'])
    expect(await read.verdictsAfter(MAIN, idOrder('512'), 10)).toMatchObject([{ lineageKey: 'lineage-of-513' }])
  })

  test('verdicts are read as far as the limit, nearest build first', async () => {
    await using place = await places().open()
    await Promise.all(several(9, (i) => hear(place.store, { build: String(508 + i) })))
    const { read } = place.store
    expect((await read.verdictsBefore(MAIN, idOrder('512'), 2)).map(({ buildId }) => buildId)).toEqual(['512', '511'])
    expect((await read.verdictsAfter(MAIN, idOrder('512'), 2)).map(({ buildId }) => buildId)).toEqual(['513', '514'])
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
  ])('whether %s is a verdict on the branch: %s', async (word, isOne) => {
    await using place = await places().open()
    await hear(place.store, { word })
    expect(await place.store.read.verdictsBefore(MAIN, idOrder('512'), 10)).toHaveLength(isOne ? 1 : 0)
  })

  test('a branch knows nothing of another branch or project, nor of builds without a branch', async () => {
    await using place = await places().open()
    await hear(place.store, { branch: 'main2' })
    await hear(place.store, { branch: 'Main' })
    await hear(place.store, { branch: null })
    await hear(place.store, { project: '42' })
    expect(await place.store.read.verdictsBefore(MAIN, idOrder('512'), 10)).toEqual([])
  })
}
