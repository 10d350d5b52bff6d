import { expect, test } from 'vitest'
import type { Streak, StreakChange } from '../../../src/domain/builds/streak.ts'
import { idOrder, type MessageTs } from '../../../src/domain/ids.ts'
import { branchKey } from '../../../src/domain/builds/revision.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { remind } from '../../../src/features/streaks/remind.ts'
import type { Store } from '../../../src/store/store.ts'
import { streak as redBranch } from '../../support/streaks.ts'
import { HOUR, LIN, projectId, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, CARD, hear, RELEASES, REVISION } from '../given.ts'

const MAIN = branchKey(projectId(WEB), 'main')

const streak = (change: Partial<Streak> = {}): Streak =>
  redBranch({ id: '1', branchKey: MAIN, revisionKey: REVISION, ...change })

const reminding: Subscription = {
  channel: BUILDS,
  follows: { what: 'all' },
  rules: null,
  quiet: false,
  mention: 'nobody',
  remind: { afterMs: HOUR, fromHour: 0, toHour: 24, days: 'daily', zone: 'UTC' },
  source: 'file',
}

/** Build 512 failed on main and has a card in #builds. */
async function red(store: Store, change: Partial<Streak> = {}): Promise<void> {
  const seq = await hear(store, { project: WEB, build: '512' })
  await store.write(async (tx) => {
    await tx.placeEvent(seq, 1)
    await tx.ensureCard({ ...CARD, quiet: false, mention: false })
    await tx.saveStreak(streak(change))
    const names = { name: 'acme/web', fullName: null, projectUuid: null }
    await tx.saveDeliveredProject({ projectId: projectId(WEB), ...names, at: T0 })
  })
}

let ids = 0

/** Runs the job at this time. @returns the owners who got a message */
async function remindAt(store: Store, at: number): Promise<string[]> {
  const said: string[] = []
  const mute = () => {}
  const end = await remind(
    {
      store,
      clock: { now: () => at, sleep: async () => {} },
      log: { debug: mute, info: mute, warn: mute, error: mute },
      newId: () => `reminder-${(ids += 1)}`,
      subscriptions: async () => [reminding, { ...reminding, channel: RELEASES }],
      sendText: async (to) => {
        said.push(to)
        return { kind: 'sent', ts: '1.0' as MessageTs }
      },
      endGone: async () => {},
    },
    new AbortController().signal,
  )
  expect(end).toBe('done')
  return said
}

const kept = async (store: Store) =>
  (await store.read.streakChanges(['1'])).map(({ kind, channel, number }) => [kind, channel, number])

/** Reminders of red branches, as the job stores them. */
export function reminderClaims(places: () => Places): void {
  test('a reminder is stored once, only for a channel with a card, and makes that card due', async () => {
    await using place = await places().open()
    const { store } = place
    await red(store)
    await remindAt(store, T0 + HOUR - 1)
    expect(await kept(store)).toEqual([])
    await remindAt(store, T0 + HOUR)
    expect(await kept(store)).toEqual([['reminded', BUILDS, 1]])
    expect((await store.read.card(CARD))?.queues.edit).toEqual({ at: T0 + HOUR, priority: 1 })
    expect(await store.read.streakChangesOf(CARD.subject)).toHaveLength(1)
    // The reminder waits to be posted. It does not appear as a change made by a person.
    await remindAt(store, T0 + 9 * HOUR)
    expect(await kept(store)).toHaveLength(1)
    expect(await store.read.streakChangesAfter({ at: 0, id: '' }, 9)).toEqual([])
  })

  test('one of several processes stores the reminder', async () => {
    await using place = await places().open()
    await red(place.store)
    const others = [place.store, place.another(), place.another()]
    await Promise.all(others.map((store) => remindAt(store, T0 + HOUR)))
    expect(await kept(place.store)).toEqual([['reminded', BUILDS, 1]])
  })

  test('the number of a reminder occurs once for each streak and channel', async () => {
    await using place = await places().open()
    const about = { streakId: '1', subject: CARD.subject, channel: BUILDS, number: 1, at: T0 }
    const nobody = { interactionKey: null, by: '', to: null, until: null }
    const change = (id: string): StreakChange => ({ id, kind: 'reminded', ...about, ...nobody })
    await place.store.write((tx) => tx.insertStreakChange(change('a')))
    await expect(place.store.write((tx) => tx.insertStreakChange(change('b')))).rejects.toThrow()
  })

  test('no reminder is stored after the fix or while somebody owns the branch; an owner whose time is over is told once', async () => {
    await using place = await places().open()
    const { store } = place
    await red(store, { owner: LIN, ownedAt: T0, ownerUntil: T0 + 3 * HOUR })
    expect(await remindAt(store, T0 + 2 * HOUR)).toEqual([])
    expect(await remindAt(store, T0 + 3 * HOUR)).toEqual([LIN])
    expect(await remindAt(store, T0 + 4 * HOUR - 1)).toEqual([])
    expect(await kept(store)).toEqual([['lapsed', null, null]])
    await store.write((tx) => tx.saveStreak(streak({ endedAt: T0 + 4 * HOUR })))
    await remindAt(store, T0 + 9 * HOUR)
    expect(await kept(store)).toHaveLength(1)
  })

  test('the card of a streak is that of its newest failed build in the channel, without machine errors', async () => {
    await using place = await places().open()
    const { store } = place
    await red(store)
    const upTo = (newest: string) => streak({ newestOrder: idOrder(newest) })
    const card = async (newest: string) => (await store.read.streakCards(upTo(newest), BUILDS))[0]?.subject ?? null
    expect(await card('514')).toBe(CARD.subject)
    for (const [cardNumber, word] of [
      [2, 'error'],
      [3, 'infrastructure_failure'],
    ] as const) {
      const seq = await hear(store, { build: String(511 + cardNumber), word })
      await store.write(async (tx) => {
        await tx.placeEvent(seq, cardNumber)
        await tx.ensureCard({ subject: `${REVISION}/${cardNumber}`, channel: BUILDS, quiet: false, mention: false })
      })
    }
    expect(await card('514')).toBe(`${REVISION}/2`)
    expect(await card('512')).toBe(CARD.subject)
    expect(await store.read.streakCards(upTo('514'), RELEASES)).toEqual([])
    expect(await store.read.streakCards({ ...upTo('700'), beganOrder: idOrder('600') }, BUILDS)).toEqual([])
  })
}
