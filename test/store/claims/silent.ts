import { expect, test } from 'vitest'
import { idOrder } from '../../../src/domain/ids.ts'
import type { KnownBuild } from '../../../src/store/records.ts'
import type { Store } from '../../../src/store/store.ts'
import { buildId, HOUR, projectId, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { REVISION } from '../given.ts'

const SINCE = { notAfter: T0, notBefore: T0 - 10 * HOUR }

const standing = ({ write }: Store, build: string, change: Partial<KnownBuild> = {}): Promise<void> =>
  write((tx) =>
    tx.saveBuild({
      projectId: projectId(WEB),
      buildId: buildId(build),
      buildOrder: idOrder(build),
      attempt: 1,
      revisionKey: REVISION,
      cardNumber: 1,
      branch: 'main',
      status: 'started',
      rawStatus: 'initiated',
      at: T0,
      buildUuid: null,
      committer: null,
      ...change,
    }),
  )

const silent = async ({ read }: Store, limit = 10): Promise<string[]> =>
  (await read.silentBuilds(SINCE, limit)).map(({ buildId: build }) => build)

/** Builds without news that have not ended. */
export function silentClaims(places: () => Places): void {
  test('a running or waiting build without news since a given time is silent, the longest silent first', async () => {
    await using place = await places().open()
    await standing(place.store, '1')
    await standing(place.store, '2', { at: T0 + 1 })
    await standing(place.store, '3', { status: 'waiting', at: T0 - HOUR })
    await standing(place.store, '4', { status: 'failed' })
    expect(await silent(place.store)).toEqual(['3', '1'])
    expect(await silent(place.store, 1)).toEqual(['3'])
  })

  test('a build that has been silent for too long is left out', async () => {
    await using place = await places().open()
    await standing(place.store, '1', { at: SINCE.notBefore })
    await standing(place.store, '2', { at: SINCE.notBefore - 1 })
    expect(await silent(place.store)).toEqual(['1'])
  })

  test('a build that CI was asked about is silent again only after the same time, whether or not it has news', async () => {
    await using place = await places().open()
    for (const build of ['1', '2']) await standing(place.store, build, { at: T0 - HOUR })
    await place.store.write((tx) => tx.setCiCheckedAt([{ projectId: projectId(WEB), buildId: buildId('1') }], T0 + 1))
    expect(await silent(place.store)).toEqual(['2'])
    await standing(place.store, '1', { at: T0 - HOUR, rawStatus: 'testing' })
    expect(await silent(place.store)).toEqual(['2'])
    await place.store.write((tx) => tx.setCiCheckedAt([{ projectId: projectId(WEB), buildId: buildId('1') }], T0))
    expect(await silent(place.store)).toEqual(['1', '2'])
  })
}
