import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHECK_EVERY_MS, createSchedule } from '../../src/runtime/schedule.ts'
import { HOUR, MINUTE, SECOND, T0 } from '../support/build-events.ts'
import { createHandClock, watched } from '../support/hand-clock.ts'
import { sqlitePlaces, type Places } from '../support/stores.ts'
import { counted, held, HOURLY, look, processOn } from './stage.ts'

const DAY = 24 * HOUR
/** T0 is at 14:00. */
const DAILY = '0 14 * * *'

describe('a job of a process with its own database', () => {
  let places: Places
  beforeAll(async () => void (places = await sqlitePlaces()))
  afterAll(() => places[Symbol.asyncDispose]())

  async function open(startAt = T0) {
    const place = await places.open()
    const store = watched(place.store)
    return { place, store, clock: createHandClock(startAt, store.pending) }
  }

  test('runs at the first look, and then when its cron expression says', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    const { job, begun } = counted(clock)
    const process = processOn(store, clock, job)
    await look(clock, process)
    await look(clock, process)
    await clock.advance(HOUR - 1)
    await look(clock, process)
    expect(begun).toEqual([T0])
    await clock.advance(1)
    await look(clock, process)
    expect(begun).toEqual([T0, T0 + HOUR])
    expect(process.ended).toEqual(['prune done', 'prune done'])
  })

  test('runs after a restart if it was due meanwhile, and otherwise not', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    const first = counted(clock, DAILY)
    await look(clock, processOn(store, clock, first.job))
    const second = counted(clock, DAILY)
    await clock.advance(DAY / 2)
    await look(clock, processOn(store, clock, second.job))
    expect(second.begun).toEqual([])
    await clock.advance(DAY * 3)
    await look(clock, processOn(store, clock, second.job))
    expect(second.begun).toEqual([T0 + DAY * 3.5])
  })

  test.each([
    ['forward in spring', Date.UTC(2026, 2, 28, 14)],
    ['back in autumn', Date.UTC(2026, 9, 24, 14)],
  ])('runs every 24 hours on days when clocks go %s', async (_, startAt) => {
    const { place, store, clock } = await open(startAt)
    await using __ = place
    const { job, begun } = counted(clock, DAILY)
    const process = processOn(store, clock, job)
    for (let hour = 0; hour < 72; hour++) {
      await look(clock, process)
      await clock.advance(HOUR)
    }
    expect(begun).toEqual([startAt, startAt + DAY, startAt + 2 * DAY])
  })

  test('is due if its last run is in the future, from a wrong clock', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    await store.write((tx) => tx.setLastDoneAt('prune', T0 + 1))
    const { job, begun } = counted(clock)
    await look(clock, processOn(store, clock, job))
    expect(begun).toEqual([T0])
  })

  test('stays due if it failed or says so, and holds up no others', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    let word: 'again' | Error = 'again'
    const failing = counted(clock, HOURLY, () => {
      if (word instanceof Error) throw word
      return word
    })
    const other = { ...counted(clock), job: { ...counted(clock).job, name: 'refresh' } }
    const process = processOn(store, clock, failing.job, other.job)
    await look(clock, process)
    word = new Error('CI is away')
    await look(clock, process)
    await look(clock, process)
    expect(failing.begun).toEqual([T0, T0, T0])
    expect(process.ended).toEqual(['prune again', 'refresh done', 'prune failed', 'prune failed'])
    expect(process.warned).toHaveLength(2)
    expect(await store.read.lastDoneAt('prune')).toBeNull()
  })

  test('runs once at a time, however often it is looked for, and its interval counts from its start', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    const slow = held(clock)
    const process = processOn(store, clock, slow.job)
    await look(clock, process)
    await clock.advance(2 * HOUR)
    await look(clock, process)
    expect(slow.begun).toEqual([T0])
    slow.end()
    await clock.settle()
    expect(await store.read.lastDoneAt('prune')).toBe(T0)
  })

  test('that follows news is due at each look for a minute after it; another one is not', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    const follows = counted(clock)
    const other = counted(clock)
    const process = processOn(store, clock, { ...follows.job, afterNews: true }, { ...other.job, name: 'refresh' })
    await look(clock, process)
    await clock.advance(MINUTE)
    await look(clock, process)
    process.look.heard()
    for (let n = 0; n < 15; n++) {
      await look(clock, process)
      await clock.advance(5 * SECOND)
    }
    expect(follows.begun).toHaveLength(1 + 12)
    expect(other.begun).toHaveLength(1)
  })

  test('of a dead process can be run by the next process at once', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    await look(clock, processOn(store, clock, held(clock).job))
    const second = counted(clock)
    await look(clock, processOn(store, clock, second.job))
    expect(second.begun).toEqual([T0])
  })

  test('is due at each start if it runs several times a minute, and then its last run is not stored', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    const often = counted(clock, '*/15 * * * * *')
    await look(clock, processOn(store, clock, often.job))
    await look(clock, processOn(store, clock, often.job))
    expect(often.begun).toEqual([T0, T0])
    expect(await store.read.lastDoneAt('prune')).toBeNull()
  })

  test('is aborted when the process stops, stays due, and no other begins after that', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    const slow = held(clock)
    const process = processOn(store, clock, slow.job)
    await look(clock, process)
    await process.look.stop()
    expect(slow.isAborted()).toBe(true)
    expect(process.ended).toEqual(['prune again'])
    expect(await store.read.lastDoneAt('prune')).toBeNull()
    await look(clock, process)
    expect(slow.begun).toHaveLength(1)
  })

  test('is looked for at once and every five seconds, by the clock of the bot, until the scheduler stops', async () => {
    const { place, store, clock } = await open()
    await using _ = place
    const { job, begun } = counted(clock, '*/5 * * * * *')
    const mute = () => {}
    const log = { debug: mute, info: mute, warn: mute, error: mute }
    const schedule = createSchedule([job], { store, clock, log, count: mute })
    const checking = schedule.start()
    await clock.settle()
    await clock.advance(3 * CHECK_EVERY_MS)
    expect(begun).toEqual([0, 1, 2, 3].map((n) => T0 + n * CHECK_EVERY_MS))
    await schedule.stop()
    await checking
    await clock.advance(HOUR)
    expect(begun).toHaveLength(4)
  })
})
