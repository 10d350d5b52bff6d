import { expect, test } from 'vitest'
import { T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { CARD, claimed, several, stand } from '../given.ts'

/** Concurrent writes. */
export function isolationClaims(places: () => Places): void {
  // A card is planned from what was read. A plan from outdated reads would erase what another process planned.
  test('a card that is read and then changed by many at once keeps every change', async () => {
    await using place = await places().open()
    await stand(place.store, CARD)
    const stores = [place.store, place.kind === 'postgres' ? place.another() : place.store]
    const changes = several(40, (i) =>
      stores[i % 2]!.write(async (tx) => {
        const card = await tx.card(CARD)
        await tx.messagesOf(CARD)
        await tx.setRetryState(CARD, { tries: card!.tries + 1, plain: false, problem: null })
      }),
    )
    await Promise.all(changes)
    expect((await place.store.read.card(CARD))?.tries).toBe(40)
  })

  // PostgreSQL aborts the transaction with the rejected statement, and answers the commit with a rollback.
  test('a write that resolves is committed, even if its work ignored an error', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.insertMessage(claimed()))
    const outcome = await place.store
      .write(async (tx) => {
        await tx.setLastDoneAt('job', T0)
        await tx.insertMessage(claimed({ key: 'second' })).catch(() => undefined)
      })
      .then(() => 'resolved')
      .catch(() => 'rejected')
    const isKept = (await place.store.read.lastDoneAt('job')) !== null
    expect(isKept).toBe(outcome === 'resolved')
  })
}
