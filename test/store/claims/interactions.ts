import { expect, test } from 'vitest'
import type { StoredInteraction } from '../../../src/store/records.ts'
import type { Store } from '../../../src/store/store.ts'
import { HOUR, LIN, messageTs, request, SECOND, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, CARD, REVISION } from '../given.ts'

/** Lin clicks Stop on build 512 of acme/web. */
const interaction = (change: Partial<StoredInteraction> = {}): StoredInteraction => ({
  id: 'click-1',
  interactionKey: 'trigger-1',
  user: LIN,
  what: 'Stop of #512',
  channel: null,
  threadTs: null,
  responseUrl: null,
  receivedAt: T0,
  state: 'owed',
  claimedBy: 'process-1',
  claimedAt: T0,
  ...change,
})

const insert = (store: Store, ...interactions: readonly StoredInteraction[]): Promise<void> =>
  store.write(async (tx) => {
    for (const one of interactions) await tx.insertInteraction(one)
  })

const claim = (store: Store, id: string, claimedAt: number, claimedBy = 'process-2'): Promise<boolean> =>
  store.write((tx) =>
    tx.claimInteraction(
      id,
      { claimedBy: 'process-1', claimedAt },
      { state: 'given-up', claimedBy, claimedAt: T0 + HOUR },
    ),
  )

const idsOf = (interactions: readonly StoredInteraction[]): string[] => interactions.map(({ id }) => id)

/** Interactions: stored before Slack gets an acknowledgement, and removed once an answer was shown. */
export function interactionClaims(places: () => Places): void {
  test("an interaction is read back unchanged, by Slack's key", async () => {
    await using place = await places().open()
    const whole = interaction({
      what: "/ci stop “acme/web”'; drop table interaction; --",
      channel: BUILDS,
      threadTs: messageTs('1714831200.000100'),
      responseUrl: 'https://hooks.slack.com/actions/T1/1/x',
    })
    await insert(place.store, whole, interaction({ id: 'bare', interactionKey: 'trigger-2' }))
    const { read } = place.store
    expect(await read.interactionsOf('trigger-1')).toEqual([whole])
    expect(await read.interactionsOf('trigger-2')).toEqual([interaction({ id: 'bare', interactionKey: 'trigger-2' })])
    expect(await read.interactionsOf('trigger-3')).toEqual([])
  })

  test('the same request that arrives twice needs two answers', async () => {
    await using place = await places().open()
    await insert(place.store, interaction(), interaction({ id: 'click-2' }))
    expect(idsOf(await place.store.read.interactionsOf('trigger-1')).sort()).toEqual(['click-1', 'click-2'])
  })

  test('an answered interaction is removed; one that was given up meanwhile stays', async () => {
    await using place = await places().open()
    await insert(place.store, interaction(), interaction({ id: 'click-2' }))
    await claim(place.store, 'click-2', T0)
    await place.store.write((tx) => tx.settleInteraction('click-1'))
    await place.store.write((tx) => tx.settleInteraction('click-2'))
    expect(await place.store.read.interactionsOf('trigger-1')).toEqual([
      interaction({ id: 'click-2', state: 'given-up', claimedBy: 'process-2', claimedAt: T0 + HOUR }),
    ])
  })

  test('an interaction that another process carries out keeps its body until it was answered or given up', async () => {
    await using place = await places().open()
    const { store } = place
    await store.write(async (tx) => {
      await tx.insertInteraction(interaction(), 'sealed')
      await tx.insertInteraction(interaction({ id: 'click-2' }), 'sealed too')
    })
    expect(await store.read.interactionBody('click-1')).toBe('sealed')
    await store.write((tx) =>
      tx.claimInteraction('click-1', interaction(), { state: 'late', claimedBy: 'process-2', claimedAt: T0 + 1 }),
    )
    expect(await store.read.interactionBody('click-1')).toBe('sealed')
    await store.write((tx) => tx.renewInteractions(['click-1'], { claimedBy: 'process-2', claimedAt: T0 + 2 }))
    expect(await store.read.interactionsOf('trigger-1')).toContainEqual(
      interaction({ state: 'late', claimedBy: 'process-2', claimedAt: T0 + 2 }),
    )
    await store.write((tx) => tx.settleInteraction('click-1'))
    await store.write((tx) => tx.markInteractionNotified('click-2'))
    expect(idsOf(await store.read.interactionsOf('trigger-1'))).toEqual(['click-2'])
    expect(await store.read.interactionBody('click-2')).toBeNull()
  })

  test('one process gives up an interaction, and none after it was answered or notified', async () => {
    await using place = await places().open()
    await insert(place.store, interaction(), interaction({ id: 'answered' }), interaction({ id: 'told' }))
    await place.store.write((tx) => tx.settleInteraction('answered'))
    await place.store.write((tx) => tx.markInteractionNotified('told'))
    const { store } = place
    expect((await Promise.all([claim(store, 'click-1', T0), claim(store, 'click-1', T0)])).sort()).toEqual([
      false,
      true,
    ])
    expect(await claim(store, 'answered', T0)).toBe(false)
    expect(await claim(store, 'told', T0)).toBe(false)
    // The process that gave it up may have died, so a process that has read this claim can replace it.
    const stood = { claimedBy: 'process-2', claimedAt: T0 + HOUR }
    const next = { state: 'given-up', claimedBy: 'process-3', claimedAt: T0 + 2 * HOUR } as const
    expect(await store.write((tx) => tx.claimInteraction('click-1', stood, next))).toBe(true)
  })

  test('either CI is called for an interaction or it is given up, never both', async () => {
    await using place = await places().open()
    await insert(place.store, interaction())
    const asked = place.store.write(async (tx) => {
      const isOwed = (await tx.interactionsOf('trigger-1')).every(({ state }) => state === 'owed')
      // Gives the other process time to interfere, if nothing prevents that.
      if (isOwed) await tx.setLastDoneAt('between', T0)
      if (isOwed)
        await tx.insertRequest(request({ interactionKey: 'trigger-1', revisionKey: REVISION, subject: CARD.subject }))
      return isOwed
    })
    const toldNothing = place.another().write(async (tx) => {
      await tx.claimInteraction(
        'click-1',
        { claimedBy: 'process-1', claimedAt: T0 },
        { state: 'given-up', claimedBy: 'process-2', claimedAt: T0 + SECOND },
      )
      return (await tx.requestOf('trigger-1')) === null
    })
    const [isAsked, isToldNothing] = await Promise.all([asked, toldNothing])
    expect(isAsked).toBe(!isToldNothing)
  })

  test('unanswered interactions come oldest first, up to a limit; one that was notified needs no answer', async () => {
    await using place = await places().open()
    await insert(
      place.store,
      interaction({ id: 'late', receivedAt: T0 + 2 * SECOND }),
      interaction({ id: 'early', receivedAt: T0 }),
      interaction({ id: 'middle', receivedAt: T0 + SECOND, responseUrl: 'https://hooks.slack.com/actions/T1/1/x' }),
    )
    await claim(place.store, 'early', T0)
    const { read } = place.store
    expect(idsOf(await read.unansweredInteractions(10))).toEqual(['early', 'middle', 'late'])
    expect(idsOf(await read.unansweredInteractions(2))).toEqual(['early', 'middle'])
    await place.store.write((tx) => tx.markInteractionNotified('middle'))
    expect(idsOf(await read.unansweredInteractions(10))).toEqual(['early', 'late'])
    expect((await read.interactionsOf('trigger-1')).find(({ id }) => id === 'middle')).toMatchObject({
      state: 'told',
      responseUrl: null,
    })
  })

  test('old interactions are removed, and those without any answer are counted', async () => {
    await using place = await places().open()
    await insert(
      place.store,
      interaction({ id: 'mute' }),
      interaction({ id: 'told' }),
      interaction({ id: 'young', receivedAt: T0 + 1 }),
    )
    await place.store.write((tx) => tx.markInteractionNotified('told'))
    expect(await place.store.write((tx) => tx.forgetInteractions(T0))).toBe(0)
    expect(await place.store.write((tx) => tx.forgetInteractions(T0 + 1))).toBe(1)
    expect(idsOf(await place.store.read.interactionsOf('trigger-1'))).toEqual(['young'])
  })

  test('a renewed interaction cannot be given up by another process, but by its own', async () => {
    await using place = await places().open()
    await insert(place.store, interaction())
    const renewed = { claimedBy: 'process-1', claimedAt: T0 + SECOND }
    await place.store.write((tx) => tx.renewInteractions(['click-1'], renewed))
    expect(await claim(place.store, 'click-1', T0)).toBe(false)
    expect(await claim(place.store, 'click-1', T0, 'process-1')).toBe(true)
  })

  test('a request of Slack is new once, to one of several processes, and again after it was forgotten', async () => {
    await using place = await places().open()
    const stores = [place.store, place.another(), place.another()]
    const remember = (at: number, { write } = place.store) => write((tx) => tx.rememberRequest('Ev1', at))
    expect((await Promise.all(stores.map((store) => remember(T0, store)))).filter((isNew) => isNew)).toHaveLength(1)
    await place.store.write((tx) => tx.forgetRequests(T0))
    expect(await remember(T0 + 1)).toBe(false)
    await place.store.write((tx) => tx.forgetRequests(T0 + 1))
    expect(await remember(T0 + 1)).toBe(true)
  })

  test('a click counts as new again after a while, measured from the last one that counted as new', async () => {
    await using place = await places().open()
    const remember = (at: number) => place.store.write((tx) => tx.rememberRequest('click:1', at, at - SECOND))
    expect(await remember(T0)).toBe(true)
    expect(await remember(T0 + SECOND)).toBe(false)
    expect(await remember(T0 + SECOND + 1)).toBe(true)
    expect(await remember(T0 + SECOND + 2)).toBe(false)
  })
}
