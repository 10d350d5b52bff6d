import { expect, test } from 'vitest'
import { NO_FAILURE, type FailureReport } from '../../../src/domain/builds/failure.ts'
import type { Store } from '../../../src/store/store.ts'
import { projectId, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { hear, REVISION } from '../given.ts'

export const report = (change: Partial<FailureReport> = {}): FailureReport => ({
  by: 'step',
  attempt: null,
  part: null,
  tests: 412,
  failed: 1,
  failures: [{ ...NO_FAILURE, test: 'LoginTest › redirects', message: 'expected 302, got 200' }],
  flakyTests: [],
  log: [],
  ...change,
})

const keep = (store: Store, buildKey: string, { attemptSeq = 0, receivedAt = T0, part = '1' } = {}): Promise<void> =>
  store.write((tx) => tx.insertReport({ buildKey, attemptSeq, receivedAt, report: report({ part }) }))

/** Test reports belong to their build. */
export function reportClaims(places: () => Places): void {
  test('the reports of a build are read unchanged and in order of receipt, and can be removed one by one', async () => {
    await using place = await places().open()
    const { store } = place
    await keep(store, '41/512', { part: '2' })
    await keep(store, '41/513')
    await keep(store, '41/512', { attemptSeq: 7, receivedAt: T0 + 1, part: '1' })
    const [first, second, ...others] = await store.read.reportsOf('41/512')
    expect(others).toEqual([])
    expect(first).toMatchObject({ attemptSeq: 0, receivedAt: T0, report: report({ part: '2' }) })
    expect(second).toMatchObject({ attemptSeq: 7, receivedAt: T0 + 1, report: report({ part: '1' }) })
    await store.write((tx) => tx.removeReport(first!.id))
    expect(await store.read.reportsOf('41/512')).toEqual([second])
  })

  test('the reports of one build can be given to another, and no others go with them', async () => {
    await using place = await places().open()
    const { store } = place
    for (const key of ['github:1/512', 'github:1/513', 'github:1:2/512']) await keep(store, key)
    await store.write((tx) => tx.moveReports('github:1/512', 'github:1:2/512'))
    expect(await store.read.reportsOf('github:1:2/512')).toHaveLength(2)
    expect(await store.read.reportsOf('github:1/512')).toEqual([])
    expect(await store.read.reportsOf('github:1/513')).toHaveLength(1)
  })

  test('old reports about unknown builds are removed, up to a limit', async () => {
    await using place = await places().open()
    const { store } = place
    await hear(store, { build: '512' })
    for (const build of ['512', '513', '514', '515']) await keep(store, `41/${build}`)
    await keep(store, '41/516', { receivedAt: T0 + 1 })
    const remove = () => store.write((tx) => tx.removeEarlyReports(T0 + 1, 2))
    expect([await remove(), await remove(), await remove()]).toEqual([2, 1, 0])
    expect(await place.sql('select build_key from report order by id')).toEqual([
      { build_key: '41/512' },
      { build_key: '41/516' },
    ])
  })

  test('of the reports about unknown builds only the newest are kept, of known builds all', async () => {
    await using place = await places().open()
    const { store } = place
    for (const build of [512, 513, 514, 515, 516]) {
      await keep(store, `41/${build}`, { receivedAt: T0 + build })
      if (build === 512) await hear(store, { build: '512' })
      await store.write((tx) => tx.boundEarlyReports(2, null))
    }
    expect(await place.sql('select build_key from report order by id')).toEqual([
      { build_key: '41/512' },
      { build_key: '41/515' },
      { build_key: '41/516' },
    ])
  })

  test('the builds of projects with reports come newest report first, from a given time on', async () => {
    await using place = await places().open()
    const { store } = place
    for (const key of ['41/512', '41/99', '4/1', '410/1', '41/512']) await keep(store, key)
    await keep(store, '41/513', { receivedAt: T0 - 1 })
    const found = async (ids: readonly string[], limit = 9, since = T0) => [
      ...(await store.read.reportedBuilds(ids.map(projectId), since, limit)),
    ]
    expect(await found(['41'])).toEqual([
      ['41/512', 2],
      ['41/99', 1],
    ])
    expect(await found(['4', '41', '42'])).toEqual([
      ['41/512', 2],
      ['4/1', 1],
      ['41/99', 1],
    ])
    expect(await found(['41'], 1)).toHaveLength(1)
    expect(await found(['41'], 9, T0 + 1)).toEqual([])
  })

  test('reports are removed with the last card of their build', async () => {
    await using place = await places().open()
    const { store } = place
    for (const cardNumber of [1, 2]) {
      const seq = await hear(store, { build: '512' })
      await store.write((tx) => tx.placeEvent(seq, cardNumber))
      await keep(store, '41/512', { attemptSeq: seq })
    }
    await keep(store, '41/513')
    await store.write((tx) => tx.removeCardEvents(REVISION, 1))
    expect(await store.read.reportsOf('41/512')).toHaveLength(2)
    expect(await store.write((tx) => tx.removeCardEvents(REVISION, 2))).toBe(3)
    expect(await store.read.reportsOf('41/512')).toEqual([])
    expect(await store.read.reportsOf('41/513')).toHaveLength(1)
  })
}
