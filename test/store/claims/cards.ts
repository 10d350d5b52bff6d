import { expect, test } from 'vitest'
import { LANDING_MAX_MS, QUEUES, NO_QUEUES } from '../../../src/domain/cards/plan.ts'
import { MINUTE, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, CARD, RELEASES, stand } from '../given.ts'

/** Cards: their flags, queues and errors. */
export function cardClaims(places: () => Places): void {
  test('a new card has nothing due and no errors', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.ensureCard({ ...CARD, quiet: true, mention: false }))
    expect(await place.store.read.card(CARD)).toEqual({
      ...CARD,
      quiet: true,
      mention: false,
      queues: NO_QUEUES,
      tries: 0,
      plain: false,
      problem: null,
    })
  })

  test('a card that was not created does not exist', async () => {
    await using place = await places().open()
    await stand(place.store, CARD)
    expect(await place.store.read.card({ ...CARD, channel: RELEASES })).toBeNull()
    expect(await place.store.read.card({ ...CARD, subject: 'another/1' })).toBeNull()
    expect(await place.store.read.cardsOf('another/1')).toEqual([])
  })

  test('a card that is created again keeps its queues and errors, and gets the new flags', async () => {
    await using place = await places().open()
    const queues = { ...NO_QUEUES, post: { at: T0, priority: 0 }, look: { at: T0 + MINUTE, priority: 4 } }
    const trouble = { tries: 3, plain: true, problem: 'not_in_channel' }
    await stand(place.store, CARD, queues)
    await place.store.write((tx) => tx.setRetryState(CARD, trouble))
    await place.store.write((tx) => tx.ensureCard({ ...CARD, quiet: true, mention: true, details: 'none' }))
    expect(await place.store.read.card(CARD)).toEqual({
      ...CARD,
      quiet: true,
      mention: true,
      details: 'none',
      queues,
      ...trouble,
    })
  })

  test.each(QUEUES)('the %s queue is set and cleared without the others', async (queue) => {
    await using place = await places().open()
    const { read, write } = place.store
    await stand(place.store, CARD, { [queue]: { at: T0, priority: 0 } })
    expect((await read.card(CARD))?.queues).toEqual({ ...NO_QUEUES, [queue]: { at: T0, priority: 0 } })
    await write((tx) => tx.setQueues(CARD, NO_QUEUES))
    expect((await read.card(CARD))?.queues).toEqual(NO_QUEUES)
  })

  test('the queues and errors of a card do not affect other cards, and create none', async () => {
    await using place = await places().open()
    const neighbours = [
      { ...CARD, channel: RELEASES },
      { ...CARD, subject: 'another/1' },
    ]
    for (const key of neighbours) await stand(place.store, key)
    await place.store.write(async (tx) => {
      await tx.setQueues(CARD, { ...NO_QUEUES, post: { at: T0, priority: 0 } })
      await tx.setRetryState(CARD, { tries: 1, plain: true, problem: 'odd' })
    })
    expect(await place.store.read.card(CARD)).toBeNull()
    for (const key of neighbours)
      expect(await place.store.read.card(key)).toMatchObject({ queues: NO_QUEUES, tries: 0, problem: null })
  })

  test('a subject may have a card in each channel', async () => {
    await using place = await places().open()
    for (const channel of [BUILDS, RELEASES]) await stand(place.store, { ...CARD, channel })
    const cards = await place.store.read.cardsOf(CARD.subject)
    expect(cards.map(({ channel }) => channel).sort()).toEqual([BUILDS, RELEASES])
  })

  test('the backlog is counted by queue: what is due, soon due, or tried again', async () => {
    await using place = await places().open()
    const backlog = () => place.store.read.backlog(T0)
    expect(await backlog()).toEqual({ ingest: 0, post: 0, edit: 0, look: 0 })
    const soon = { at: T0 + LANDING_MAX_MS, priority: 0 }
    await stand(place.store, CARD, { post: { at: T0, priority: 0 }, edit: soon })
    await stand(place.store, { ...CARD, channel: RELEASES }, { post: { at: 0, priority: 0 } })
    await stand(place.store, { ...CARD, subject: 'idle/1' })
    const later = { ...CARD, subject: 'later/1' }
    await stand(place.store, later, { edit: { at: T0 + MINUTE, priority: 0 } })
    await place.store.write((tx) => tx.wakeRevision('revision', T0 + MINUTE, 0))
    expect(await backlog()).toEqual({ ingest: 1, post: 2, edit: 1, look: 0 })
    for (const trouble of [
      { tries: 1, plain: false, problem: null },
      { tries: 0, plain: false, problem: 'ratelimited' },
    ]) {
      await place.store.write((tx) => tx.setRetryState(later, trouble))
      expect(await backlog()).toMatchObject({ edit: 2 })
    }
  })
}
