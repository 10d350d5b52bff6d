import { expect, test } from 'vitest'
import { changeStreak, dropOwner } from '../../../src/projects/streaks.ts'
import type { Streak, StreakChange } from '../../../src/domain/builds/streak.ts'
import { idOrder } from '../../../src/domain/ids.ts'
import { streak as redBranch } from '../../support/streaks.ts'
import { buildId, HOUR, LIN, SECOND, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, CARD, hear, RELEASES, REVISION } from '../given.ts'

const OWNED = { owner: LIN, ownedAt: T0, ownerUntil: T0 + HOUR, revisionKey: REVISION }

const streak = (change: Partial<Streak> = {}): Streak => redBranch({ ...OWNED, ...change })

const taken = (
  change: Partial<StreakChange> = {},
): Omit<StreakChange, 'streakId' | 'subject' | 'channel' | 'number'> => ({
  id: 'change-1',
  interactionKey: 'ask-1',
  kind: 'taken',
  by: LIN,
  to: null,
  until: T0 + HOUR,
  at: T0,
  ...change,
})

/** Red streaks, their owners, and what people did about them. */
export function streakClaims(places: () => Places): void {
  test('a streak is found by its branch until it has ended, and by its id also afterwards', async () => {
    await using place = await places().open()
    const { store } = place
    await store.write((tx) => tx.saveStreak(streak()))
    expect(await store.read.openStreak('branch of main')).toEqual(streak())
    expect(await store.read.openStreaks({ only: [WEB, '42'] }, 9)).toEqual([streak()])
    const ended = streak({ endedAt: T0 + HOUR, endedBy: buildId('513') })
    await store.write((tx) => tx.saveStreak(ended))
    expect(await store.read.openStreak('branch of main')).toBeNull()
    expect(await store.read.openStreaks({ only: [WEB] }, 9)).toEqual([])
    expect(await store.read.streak('7')).toEqual(ended)
  })

  test('red branches are checked by when they broke or were last checked, the longest ago first', async () => {
    await using place = await places().open()
    const { store } = place
    for (const [id, beganAt, checkedAt] of [
      ['1', T0 - 2 * HOUR, T0],
      ['2', T0 - 3 * HOUR, null],
      ['3', T0 - 2 * HOUR, T0 - HOUR],
      ['4', T0 - 2 * HOUR, T0 + HOUR],
      ['6', T0 + HOUR, null],
    ] as const)
      await store.write((tx) => tx.saveStreak(streak({ id, branchKey: `branch ${id}`, beganAt, checkedAt })))
    await store.write((tx) => tx.saveStreak(streak({ id: '5', branchKey: 'branch 5', endedAt: T0 })))
    const due = async () => (await store.read.streaksToCheck(T0 + SECOND, 9)).map(({ id }) => id)
    expect(await due()).toEqual(['2', '3', '1'])
    await store.write((tx) => tx.setBranchCheckedAt('2', T0 + HOUR))
    expect(await due()).toEqual(['3', '1'])
    expect((await store.read.streak('2'))?.checkedAt).toBe(T0 + HOUR)
  })

  test('at most one streak of a branch is open; a build belongs to the newest one that had begun', async () => {
    await using place = await places().open()
    const { store } = place
    await store.write((tx) => tx.saveStreak(streak({ endedAt: T0 })))
    const second = streak({ id: '8', beganOrder: idOrder('600') })
    await store.write((tx) => tx.saveStreak(second))
    const third = streak({ id: '9', beganOrder: idOrder('700') })
    await expect(store.write((tx) => tx.saveStreak(third))).rejects.toThrow()
    const idAt = async (build: string) => (await store.read.streakAt('branch of main', idOrder(build)))?.id ?? null
    expect([await idAt('511'), await idAt('512'), await idAt('599'), await idAt('9999')]).toEqual([null, '7', '7', '8'])
  })

  test("a change is stored once for each interaction, belongs to its card's thread, and makes the card due", async () => {
    await using place = await places().open()
    const { store } = place
    for (const channel of [BUILDS, RELEASES])
      await store.write((tx) => tx.ensureCard({ ...CARD, channel, quiet: false, mention: false }))
    const made = { ...taken(), streakId: '7', subject: CARD.subject, channel: null, number: null }
    expect(await store.write((tx) => changeStreak(tx, streak(), taken()))).toEqual(made)
    expect(await store.read.streakChangesOf(CARD.subject)).toEqual([made])
    expect(await store.read.streakChangeBy('ask-1')).toEqual(made)
    expect(await store.read.dueCards('edit', T0, 9, null, [])).toHaveLength(2)
    await expect(store.write((tx) => changeStreak(tx, streak(), taken({ id: 'change-2' })))).rejects.toThrow()
    expect(await store.read.streakChangesOf(CARD.subject)).toHaveLength(1)
  })

  test('touching a card does not delay it or make it less urgent', async () => {
    await using place = await places().open()
    const { store } = place
    const edit = { at: T0, priority: 0 }
    await store.write(async (tx) => {
      await tx.ensureCard({ ...CARD, quiet: false, mention: false })
      await tx.setQueues(CARD, { post: null, edit, look: null })
      await tx.touchCards(CARD.subject, T0 + HOUR, 4)
    })
    expect((await store.read.card(CARD))?.queues.edit).toEqual(edit)
  })

  test('the audit lists changes in order, page by page', async () => {
    await using place = await places().open()
    const { store } = place
    for (const at of [0, 1, 2])
      await store.write((tx) =>
        changeStreak(tx, streak(), taken({ id: `c${at}`, interactionKey: `k${at}`, at: T0 + at * SECOND })),
      )
    const page = await store.read.streakChangesAfter({ at: T0 - 1, id: '' }, 2)
    expect(page.map(({ id, branch, projectId: project }) => [id, branch, project])).toEqual([
      ['c0', 'main', WEB],
      ['c1', 'main', WEB],
    ])
    expect((await store.read.streakChangesAfter(page[1]!, 9)).map(({ id }) => id)).toEqual(['c2'])
  })

  test('a person who left is removed as owner, once', async () => {
    await using place = await places().open()
    const { store } = place
    await store.write((tx) => tx.saveStreak(streak()))
    expect(await store.read.streakOwners(T0, 9)).toEqual([LIN])
    expect(await store.read.streakOwners(T0 + HOUR, 9)).toEqual([])
    let ids = 0
    const deps = { store, clock: { now: () => T0 }, newId: () => `left-${(ids += 1)}` }
    for (const user of ['U0ADA00001', LIN, LIN]) await dropOwner(deps, user)
    expect((await store.read.openStreak('branch of main'))?.owner).toBeNull()
    expect((await store.read.streakChangesOf(CARD.subject)).map(({ kind, by }) => [kind, by])).toEqual([['left', LIN]])
  })

  test('a streak and its changes are removed with the card of its newest failure', async () => {
    await using place = await places().open()
    const { store, sql } = place
    await store.write((tx) => changeStreak(tx, streak({ cardNumber: 2 }), taken()))
    for (const cardNumber of [1, 2]) {
      const seq = await hear(store, { build: String(511 + cardNumber) })
      await store.write((tx) => tx.placeEvent(seq, cardNumber))
    }
    await store.write((tx) => tx.removeCardEvents(REVISION, 1))
    expect(await store.read.openStreak('branch of main')).not.toBeNull()
    await store.write((tx) => tx.removeCardEvents(REVISION, 2))
    expect([await sql('select 1 from breakage'), await sql('select 1 from breakage_change')]).toEqual([[], []])
  })
}
