import { afterAll, describe, expect, test } from 'vitest'
import { createPresence, MARGIN_MS, PRESENCE_MS } from '../../src/alerts/presence.ts'
import type { Store } from '../../src/store/store.ts'
import { T0 } from '../support/facts.ts'
import { sqlitePlaces, type Place } from '../support/stores.ts'

const places = await sqlitePlaces()
afterAll(() => places[Symbol.asyncDispose]())

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

/** Nothing is renewed until the test says so: its process sleeps. */
async function openAsleep(place: Place, store: Pick<Store, 'write'> = place.store) {
  let now = T0
  let wake = () => {}
  const clock = {
    now: () => now,
    sleep: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        wake = resolve
        signal?.addEventListener('abort', () => resolve(), { once: true })
      }),
  }
  const presence = createPresence({
    store,
    clock,
    agree: async () => {},
    log: SILENT,
    monotonic: () => now,
    processId: 'process-1',
  })
  await presence.start()
  return {
    presence,
    pass: (ms: number) => void (now += ms),
    wake: () => wake(),
    isPresent: () => place.store.write((tx) => tx.isPresent('process-1', now)),
    takeOver: () => place.store.write((tx) => tx.takeOver(now, 'process-2')),
  }
}

describe('a process', () => {
  test('begins nothing from MARGIN_MS before others may take it over, and may until then', async () => {
    await using place = await places.open()
    const { presence, pass } = await openAsleep(place)
    const taken = presence.pass()
    pass(PRESENCE_MS - MARGIN_MS - 1)
    expect(taken.isValid()).toBe(true)
    pass(1)
    expect(taken.isValid()).toBe(false)
    await presence.stop()
  })

  test('is taken over when it was not heard of for PRESENCE_MS, and not before', async () => {
    await using place = await places.open()
    const { presence, pass, takeOver } = await openAsleep(place)
    pass(PRESENCE_MS - 1)
    expect((await takeOver()).dead).toEqual([])
    pass(1)
    expect((await takeOver()).dead).toEqual(['process-1'])
    expect((await takeOver()).dead).toEqual([])
    await presence.stop()
  })

  test('that slept and was not taken over goes on with what it has claimed', async () => {
    await using place = await places.open()
    const { presence, pass, wake } = await openAsleep(place)
    const taken = presence.pass()
    pass(PRESENCE_MS * 2)
    expect(taken.isValid()).toBe(false)
    wake()
    await expect.poll(taken.isValid).toBe(true)
    expect(presence.lost().aborted).toBe(false)
    await presence.stop()
  })

  test('that was taken over lets go of all it has claimed, and begins anew', async () => {
    await using place = await places.open()
    const { presence, pass, wake, takeOver } = await openAsleep(place)
    const [taken, lost] = [presence.pass(), presence.lost()]
    pass(PRESENCE_MS)
    await takeOver()
    wake()
    await expect.poll(() => lost.aborted).toBe(true)
    expect(taken.isValid()).toBe(false)
    await expect.poll(() => presence.pass().isValid()).toBe(true)
    await presence.stop()
  })

  test('that slept is drowsy, and is not where it never did', async () => {
    await using place = await places.open()
    const { presence, pass, wake } = await openAsleep(place)
    pass(PRESENCE_MS - MARGIN_MS - 1)
    expect(presence.isDrowsy()).toBe(false)
    pass(1)
    expect(presence.isDrowsy()).toBe(true)
    wake()
    await expect.poll(() => presence.pass().isValid()).toBe(true)
    expect(presence.isDrowsy()).toBe(true)
    await presence.stop()
  })

  test('that stops is gone at once', async () => {
    await using place = await places.open()
    const { presence, isPresent } = await openAsleep(place)
    expect(await isPresent()).toBe(true)
    await presence.stop()
    expect(await isPresent()).toBe(false)
  })

  test('that cannot reach the database begins nothing, and neither fails nor hangs', async () => {
    await using place = await places.open()
    const { presence } = await openAsleep(place, { write: () => Promise.reject(new Error('away')) })
    expect(presence.pass().isValid()).toBe(false)
    await presence.stop()
  })
})
