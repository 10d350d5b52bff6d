import { expect, test } from 'vitest'
import { MINUTE, SECOND, T0 } from '../../support/facts.ts'
import type { Place, Places } from '../../support/stores.ts'
import { BUILDS, CARD, RELEASES, several } from '../given.ts'

const WINDOW = { windowMs: MINUTE, max: 3 }

const withCard = async ({ store }: Place) => {
  await store.write((tx) => tx.ensureCard({ ...CARD, quiet: false, mention: false }))
  await store.write((tx) =>
    tx.setLanes(CARD, { post: { at: T0, priority: 0 }, edit: { at: T0, priority: 0 }, look: null }),
  )
}

/** Several processes: who is alive, whose turn it is, and what the dead leave. */
export function presenceClaims(places: () => Places): void {
  test('a process is present until its time is over, and renewing it counts from there', async () => {
    await using place = await places().open()
    const { write, read } = place.store
    expect(await write((tx) => tx.renewPresence('process-1', T0 + SECOND))).toBe('begun')
    expect(await write((tx) => tx.isPresent('process-1', T0 + SECOND - 1))).toBe(true)
    expect(await read.hasLapsed(T0 + SECOND - 1)).toBe(false)
    expect(await write((tx) => tx.isPresent('process-1', T0 + SECOND))).toBe(false)
    expect(await read.hasLapsed(T0 + SECOND)).toBe(true)
    expect(await write((tx) => tx.renewPresence('process-1', T0 + MINUTE))).toBe('kept')
    expect(await write((tx) => tx.isPresent('process-1', T0 + SECOND))).toBe(true)
  })

  test('what the dead had under way is left once: calls, leases and answers; what the living have stays', async () => {
    await using place = await places().open()
    const { write } = place.store
    await withCard(place)
    await write(async (tx) => {
      await tx.renewPresence('process-1', T0)
      await tx.renewPresence('process-2', T0 + MINUTE)
      await tx.setCall(CARD, { call: 'call-1', by: 'process-1' })
      for (const [name, heldBy] of [
        ['prune', 'process-1'],
        ['read-projects', 'process-2'],
      ] as const)
        await tx.takeLease({ name, heldBy, heldUntil: T0 + MINUTE }, { now: T0, longestMs: MINUTE })
    })
    const left = await write((tx) => tx.takeOver(T0, 'process-3'))
    expect(left).toEqual({ dead: ['process-1'], calls: [{ ...CARD, call: 'call-1' }] })
    expect(await write((tx) => tx.takeOver(T0, 'process-3'))).toEqual({ dead: [], calls: [] })
    expect(await place.sql('select name from lease')).toEqual([{ name: 'read-projects' }])
    expect(await write((tx) => tx.renewPresence('process-1', T0 + MINUTE))).toBe('begun')
  })

  test('a process does not bury itself', async () => {
    await using place = await places().open()
    const { write } = place.store
    await write((tx) => tx.renewPresence('process-1', T0))
    expect((await write((tx) => tx.takeOver(T0, 'process-1'))).dead).toEqual([])
  })

  test('a card with a call under way is nobody’s to pick, and is again when it has ended', async () => {
    await using place = await places().open()
    const { write, read } = place.store
    await withCard(place)
    const due = () => read.dueCards('post', T0, 10, BUILDS, [])
    await write((tx) => tx.setCall(CARD, { call: 'call-1', by: 'process-1' }))
    expect(await due()).toEqual([])
    expect(await write((tx) => tx.callOf(CARD))).toEqual({ call: 'call-1', by: 'process-1' })
    await write((tx) => tx.setCall(CARD, null))
    expect(await due()).toEqual([CARD])
    expect(await write((tx) => tx.callOf(CARD))).toBeNull()
  })

  test('a channel has one post under way, and the next one a gap after it arrived', async () => {
    await using place = await places().open()
    const { write } = place.store
    const take = (call: string, now: number, channel = BUILDS) =>
      write((tx) => tx.takePostSlot(channel, call, { now, until: now + MINUTE }))
    expect(await take('call-1', T0)).toBeNull()
    expect(await take('call-2', T0)).toEqual({ freeAt: T0 + MINUTE, isUnderWay: true })
    expect(await take('call-3', T0, RELEASES)).toBeNull()
    await write((tx) => tx.leaveSlot('call-1', { arrivedAt: T0 + 100, postGapMs: SECOND }))
    expect(await take('call-4', T0 + SECOND + 99)).toEqual({ freeAt: T0 + SECOND + 100, isUnderWay: false })
    expect(await take('call-5', T0 + SECOND + 100)).toBeNull()
  })

  test('a call that was not made leaves the turn to the next one at once', async () => {
    await using place = await places().open()
    const { write } = place.store
    const at = { now: T0, until: T0 + MINUTE }
    await write((tx) => tx.takePostSlot(BUILDS, 'call-1', at))
    await write((tx) => tx.dropSlot('call-1', T0))
    expect(await write((tx) => tx.takePostSlot(BUILDS, 'call-2', at))).toBeNull()
    for (const call of ['call-3', 'call-4', 'call-5'])
      expect(await write((tx) => tx.takeWindowSlot('edit', BUILDS, call, { ...at, ...WINDOW }))).toBeNull()
    await write((tx) => tx.dropSlot('call-4', T0))
    expect(await write((tx) => tx.takeWindowSlot('edit', BUILDS, 'call-6', { ...at, ...WINDOW }))).toBeNull()
  })

  test('of a lane there are so many calls in a window, counted from when they arrived; another lane is free', async () => {
    await using place = await places().open()
    const { write } = place.store
    const take = (call: string, now: number, lane: 'edit' | 'look' = 'edit') =>
      write((tx) => tx.takeWindowSlot(lane, BUILDS, call, { now, until: now + 5 * SECOND, ...WINDOW }))
    for (const call of ['call-1', 'call-2', 'call-3']) expect(await take(call, T0)).toBeNull()
    expect(await take('call-4', T0)).toEqual({ freeAt: T0 + 5 * SECOND + MINUTE, isUnderWay: false })
    expect(await take('call-5', T0, 'look')).toBeNull()
    await write((tx) => tx.leaveSlot('call-1', { arrivedAt: T0 + 100, postGapMs: SECOND }))
    expect(await take('call-6', T0 + MINUTE + 99)).toMatchObject({ freeAt: T0 + MINUTE + 100 })
    expect(await take('call-7', T0 + MINUTE + 100)).toBeNull()
  })

  test('what Slack takes nothing of stays blocked so long: the lane, or of posts the channel', async () => {
    await using place = await places().open()
    const { write } = place.store
    const at = (now: number) => ({ now, until: now + MINUTE })
    await write((tx) => tx.blockSlot('post', BUILDS, T0 + SECOND))
    await write((tx) => tx.blockSlot('edit', BUILDS, T0 + SECOND))
    expect(await write((tx) => tx.takePostSlot(BUILDS, 'call-1', at(T0 + SECOND - 1)))).not.toBeNull()
    expect(await write((tx) => tx.takePostSlot(RELEASES, 'call-2', at(T0)))).toBeNull()
    const edit = (now: number) =>
      write((tx) => tx.takeWindowSlot('edit', RELEASES, `call-${now}`, { ...at(now), ...WINDOW }))
    expect(await edit(T0 + SECOND - 1)).toEqual({ freeAt: T0 + SECOND, isUnderWay: false })
    expect(await edit(T0 + SECOND)).toBeNull()
    expect(await write((tx) => tx.takePostSlot(BUILDS, 'call-3', at(T0 + SECOND)))).toBeNull()
  })

  test('an event is heard once, and anew when it is forgotten', async () => {
    await using place = await places().open()
    const { write } = place.store
    expect(await write((tx) => tx.rememberRequest('Ev1', T0))).toBe(true)
    expect(await write((tx) => tx.rememberRequest('Ev1', T0 + 1))).toBe(false)
    await write((tx) => tx.forgetRequests(T0))
    expect(await write((tx) => tx.rememberRequest('Ev1', T0 + 1))).toBe(false)
    await write((tx) => tx.forgetRequests(T0 + 1))
    expect(await write((tx) => tx.rememberRequest('Ev1', T0 + 1))).toBe(true)
  })

  test('of several that ask at one moment one has the turn, hears the event, and buries the dead', async () => {
    await using place = await places().open()
    const stores = [place.store, place.another(), place.another()]
    await place.store.write((tx) => tx.renewPresence('process-0', T0))
    const each = <T>(act: (store: Place['store'], i: number) => Promise<T>) =>
      Promise.all(several(12, (i) => act(stores[i % 3]!, i)))
    const turns = await each(({ write }, i) =>
      write((tx) => tx.takePostSlot(BUILDS, `call-${i}`, { now: T0, until: T0 + MINUTE })),
    )
    expect(turns.filter((taken) => taken === null)).toHaveLength(1)
    const edits = await each(({ write }, i) =>
      write((tx) => tx.takeWindowSlot('edit', BUILDS, `edit-${i}`, { now: T0, until: T0 + MINUTE, ...WINDOW })),
    )
    expect(edits.filter((taken) => taken === null)).toHaveLength(WINDOW.max)
    const heard = await each(({ write }) => write((tx) => tx.rememberRequest('Ev1', T0)))
    expect(heard.filter((isNew) => isNew)).toHaveLength(1)
    const buried = await each(({ write }, i) => write((tx) => tx.takeOver(T0, `process-${i + 1}`)))
    expect(buried.flatMap(({ dead }) => dead)).toEqual(['process-0'])
  })
}
