import { expect, test } from 'vitest'
import { idOrder } from '../../../src/domain/ids.ts'
import type { Store } from '../../../src/store/store.ts'
import { buildId, projectId, request, T0, WEB } from '../../support/build-events.ts'
import type { Place, Places } from '../../support/stores.ts'
import { BUILDS, CARD, claimed, decided, hear, REVISION, projectRequest, RELEASES, stand } from '../given.ts'

/** Everything that a build on a card leaves in the database, in two channels. */
async function told(store: Store, build: string, cardNumber: number): Promise<void> {
  const subject = `${REVISION}/${cardNumber}`
  const seq = await hear(store, { build })
  await store.write(async (tx) => {
    await tx.placeEvent(seq, cardNumber)
    await tx.saveBuild({
      projectId: projectId(WEB),
      buildId: buildId(build),
      buildOrder: idOrder(build),
      attempt: 1,
      revisionKey: REVISION,
      cardNumber,
      branch: 'main',
      status: 'failed',
      rawStatus: 'error',
      at: T0,
      buildUuid: null,
      committer: null,
    })
    for (const channel of [BUILDS, RELEASES]) {
      await tx.ensureCard({ subject, channel, quiet: false, mention: false })
      await tx.saveDecision(decided({ eventSeq: seq, subject, channel }))
      await tx.insertMessage(claimed({ subject, channel, key: `${subject} ${channel}` }))
    }
  })
}

const count = async ({ sql }: Place, table: string): Promise<number> =>
  Number((await sql(`select count(*) as n from ${table}`))[0]!['n'])

const countAll = async (place: Place): Promise<Record<string, number>> =>
  Object.fromEntries(
    await Promise.all(
      ['fact', 'build', 'card', 'decision', 'message', 'request'].map(
        async (table) => [table, await count(place, table)] as const,
      ),
    ),
  )

/** Old rows are removed, card by card, a few at a time. */
export function pruneClaims(places: () => Places): void {
  test('build events are listed in order of receipt, from a given one on, up to a limit', async () => {
    await using place = await places().open()
    const [first, second, third] = [await hear(place.store), await hear(place.store), await hear(place.store)]
    await place.store.write((tx) => tx.placeEvent(second, 7))
    expect(await place.store.read.eventsAfter(first, 1)).toEqual([
      { seq: second, at: T0, cardNumber: 7, revisionKey: REVISION },
    ])
    expect((await place.store.read.eventsAfter(0, 9)).map(({ seq, cardNumber }) => [seq, cardNumber])).toEqual([
      [first, null],
      [second, 7],
      [third, null],
    ])
  })

  test('a card is removed with all its rows, in every channel, and no other card', async () => {
    await using place = await places().open()
    await told(place.store, '512', 1)
    await told(place.store, '513', 2)
    expect(await place.store.write((tx) => tx.removeCardEvents(REVISION, 1))).toBe(8)
    expect(await countAll(place)).toEqual({ fact: 1, build: 1, card: 2, decision: 2, message: 2, request: 0 })
    expect(await place.store.read.build(WEB, '513')).not.toBeNull()
    expect(await place.store.write((tx) => tx.removeCardEvents(REVISION, 1))).toBe(0)
  })

  test('a build on a later card stays, and so do events that are not ingested', async () => {
    await using place = await places().open()
    await told(place.store, '512', 1)
    await told(place.store, '512', 2)
    await hear(place.store, { build: '512' })
    await place.store.write((tx) => tx.removeCardEvents(REVISION, 1))
    expect(await place.store.read.build(WEB, '512')).toMatchObject({ cardNumber: 2 })
    expect((await place.store.read.eventsOfBuild(WEB, '512')).map(({ cardNumber }) => cardNumber)).toEqual([2, null])
  })

  test('requests are removed with the last card of their revision', async () => {
    await using place = await places().open()
    await told(place.store, '512', 1)
    await told(place.store, '513', 2)
    await place.store.write((tx) => tx.insertRequest(request({ revisionKey: REVISION, subject: CARD.subject })))
    await place.store.write((tx) => tx.removeCardEvents(REVISION, 1))
    expect(await place.store.read.requestsOf(REVISION)).toHaveLength(1)
    await place.store.write((tx) => tx.removeCardEvents(REVISION, 2))
    expect(await countAll(place)).toEqual({ fact: 0, build: 0, card: 0, decision: 0, message: 0, request: 0 })
  })

  test('bodies received before a given time are removed, up to a limit', async () => {
    await using place = await places().open()
    await place.store.write(async (tx) => {
      for (const after of [0, 1, 2, 3])
        await tx.insertDelivery({ receivedAt: T0 + after, answer: 'recorded', eventSeq: 1, body: `${after}` })
    })
    const remove = () => place.store.write((tx) => tx.removeDeliveries(T0 + 3, 2))
    expect([await remove(), await remove(), await remove()]).toEqual([2, 1, 0])
    expect(await place.sql('select body from delivery')).toEqual([{ body: '3' }])
  })

  test('old requests about projects are removed if they have ended; those about builds stay', async () => {
    await using place = await places().open()
    await place.store.write(async (tx) => {
      await tx.insertRequest(projectRequest({ id: 'old', state: 'confirmed' }))
      await tx.insertRequest(projectRequest({ id: 'older', state: 'refused', requestedAt: T0 - 1 }))
      await tx.insertRequest(projectRequest({ id: 'open', state: 'accepted', requestedAt: T0 - 2 }))
      await tx.insertRequest(projectRequest({ id: 'young', state: 'confirmed', requestedAt: T0 + 1 }))
      await tx.insertRequest(request({ id: 'build', state: 'refused', requestedAt: T0 - 1 }))
    })
    const remove = () => place.store.write((tx) => tx.removeProjectRequests(T0 + 1, 1))
    expect([await remove(), await remove(), await remove()]).toEqual([1, 1, 0])
    const left = await place.store.read.requestsAfter({ requestedAt: 0, id: '' }, 9)
    expect(left.map(({ id }) => id)).toEqual(['open', 'build', 'young'])
  })

  test('notices of earlier days are removed with their messages, unless a step is due', async () => {
    await using place = await places().open()
    const notice = (day: string, channel = BUILDS) => ({ subject: `notice/${day}`, channel })
    const days = ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']
    for (const day of days) await stand(place.store, notice(day))
    await stand(place.store, notice('2026-02-26'), { edit: { at: T0, priority: 3 } })
    await stand(place.store, CARD)
    await place.store.write(async (tx) => {
      for (const day of days) await tx.insertMessage(claimed({ ...notice(day), key: day }))
    })
    const old = { beforeDay: '2026-03-02', closed: [RELEASES] }
    const remove = () => place.store.write((tx) => tx.removeNotices(old, 2))
    expect([await remove(), await remove(), await remove()]).toEqual([2, 1, 0])
    expect(await place.store.read.cardsOf('notice/2026-03-02')).toHaveLength(1)
    expect(await place.store.read.cardsOf('notice/2026-02-26')).toHaveLength(1)
    expect(await place.store.read.cardsOf(CARD.subject)).toHaveLength(1)
    expect(await place.sql('select key from message')).toEqual([{ key: '2026-03-02' }])
  })

  test('digests of earlier days are removed like notices', async () => {
    await using place = await places().open()
    const subjects = ['digest/2026-03-01-daily', 'digest/2026-03-02-weekly']
    for (const subject of subjects) await stand(place.store, { subject, channel: BUILDS })
    const old = { beforeDay: '2026-03-02', closed: [] }
    expect(await place.store.write((tx) => tx.removeNotices(old, 9))).toBe(1)
    for (const [at, subject] of subjects.entries()) expect(await place.store.read.cardsOf(subject)).toHaveLength(at)
  })

  test('an old notice that waits for one of the given closed channels is removed, and no other that waits', async () => {
    await using place = await places().open()
    for (const channel of [BUILDS, RELEASES])
      await stand(place.store, { subject: 'notice/2026-03-01', channel }, { post: { at: T0, priority: 3 } })
    const old = { beforeDay: '2026-03-02', closed: [RELEASES] }
    expect(await place.store.write((tx) => tx.removeNotices(old, 9))).toBe(1)
    expect(await place.store.read.cardsOf('notice/2026-03-01')).toMatchObject([{ channel: BUILDS }])
  })
}
