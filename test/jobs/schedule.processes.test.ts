import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LEASE_MAX_MS, LEASE_MS } from '../../src/jobs/lease.ts'
import type { Store } from '../../src/store/store.ts'
import { until } from '../support/app.ts'
import { HOUR, SECOND, T0 } from '../support/facts.ts'
import { createHandClock, type HandClock } from '../support/hand-clock.ts'
import { startPostgres } from '../support/postgres.ts'
import { postgresPlaces, type Places } from '../support/stores.ts'
import { counted, held, idle, processOn } from './stage.ts'

const server = await startPostgres()

if ('impossible' in server) {
  console.warn(`\nNOT TESTED: a job of several processes. ${server.impossible}\n`)
  test.skip(`a job of several processes is NOT TESTED here: ${server.impossible}`)
} else {
  describe('a job of several processes on one PostgreSQL', () => {
    let places: Places
    beforeAll(async () => {
      places = await postgresPlaces(server)
    })
    afterAll(() => server[Symbol.asyncDispose]())
    claims(() => places)
  })
}

function claims(places: () => Places): void {
  async function open() {
    const place = await places().open()
    const stores = [place.another(), place.another()] as const
    return { place, stores, clock: createHandClock(T0) }
  }

  const isTrue = (what: string, claim: () => boolean) => until(what, claim)

  test('is done by one of them, and not again by the other until it is due', async () => {
    const { place, stores, clock } = await open()
    await using _ = place
    const [one, two] = [counted(clock), counted(clock)]
    const processes = [
      processOn(stores[0], clock, 'process-1', one.job),
      processOn(stores[1], clock, 'process-2', two.job),
    ]
    for (let round = 0; round < 20; round++) {
      for (const process of processes) process.look.now()
      await isTrue('the round is over', () => one.begun.length + two.begun.length > round)
      for (const { look: all } of processes) await idle(all)
      expect(one.begun.length + two.begun.length).toBe(round + 1)
      await clock.advance(HOUR)
    }
  })

  test('is nobody else’s while its process is at it, however long that takes', async () => {
    const { place, stores, clock } = await open()
    await using _ = place
    const slow = held(clock)
    const first = processOn(stores[0], clock, 'process-1', slow.job)
    first.look.now()
    await isTrue('it has begun', () => slow.begun.length === 1)
    const other = counted(clock)
    const second = processOn(stores[1], clock, 'process-2', other.job)
    for (let passed = 0; passed < 5 * LEASE_MS; passed += LEASE_MS / 3) {
      await clock.advance(LEASE_MS / 3)
      await renewed(place.store, clock)
      second.look.now()
      await idle(second.look)
    }
    expect(other.begun).toEqual([])
    slow.end()
    await isTrue('it is done', () => first.ended.length === 1)
    second.look.now()
    await idle(second.look)
    expect(other.begun).toEqual([])
  })

  test(`goes over to another process ${LEASE_MS / SECOND} s after its own has died, and not before`, async () => {
    const { place, stores, clock } = await open()
    await using _ = place
    const dead = createHandClock(T0)
    const slow = held(dead)
    processOn(stores[0], dead, 'process-1', slow.job).look.now()
    await isTrue('it has begun', () => slow.begun.length === 1)
    const other = counted(clock)
    const second = processOn(stores[1], clock, 'process-2', other.job)
    await clock.advance(LEASE_MS - 1)
    second.look.now()
    await idle(second.look)
    expect(other.begun).toEqual([])
    await clock.advance(1)
    second.look.now()
    await idle(second.look)
    expect(other.begun).toEqual([T0 + LEASE_MS])
  })

  test('ends where it was thought dead and another process has it', async () => {
    const { place, stores, clock } = await open()
    await using _ = place
    const sleeping = createHandClock(T0)
    const slow = held(sleeping)
    const first = processOn(stores[0], sleeping, 'process-1', slow.job)
    first.look.now()
    await isTrue('it has begun', () => slow.begun.length === 1)
    await clock.advance(LEASE_MS)
    const other = held(clock)
    processOn(stores[1], clock, 'process-2', other.job).look.now()
    await isTrue('the other has it', () => other.begun.length === 1)
    await sleeping.advance(LEASE_MS / 3)
    await isTrue('the first has noticed', slow.isAborted)
    await isTrue('and ended', () => first.ended.length === 1)
    expect(first.ended).toEqual(['prune again'])
    other.end()
  })

  test.each([
    ['taken by a process whose clock is a little ahead is not taken from it', LEASE_MAX_MS - LEASE_MS, 0],
    ['taken by a clock that was far ahead is not waited for', LEASE_MAX_MS - LEASE_MS + 1, 1],
  ])('%s', async (_, aheadMs, times) => {
    const { place, stores, clock } = await open()
    await using __ = place
    const ahead = createHandClock(T0 + aheadMs)
    const slow = held(ahead)
    processOn(stores[0], ahead, 'process-1', slow.job).look.now()
    await isTrue('it has begun', () => slow.begun.length === 1)
    const other = counted(clock)
    const second = processOn(stores[1], clock, 'process-2', other.job)
    second.look.now()
    await idle(second.look)
    expect(other.begun).toHaveLength(times)
  })

  test('that is each process’s own is done by each', async () => {
    const { place, stores, clock } = await open()
    await using _ = place
    const [one, two] = [counted(clock, null), counted(clock, null)]
    const processes = [
      processOn(stores[0], clock, 'process-1', one.job),
      processOn(stores[1], clock, 'process-2', two.job),
    ]
    for (const process of processes) process.look.now()
    for (const { look: all } of processes) await idle(all)
    expect([one.begun.length, two.begun.length]).toEqual([1, 1])
  })

  /** The lease reaches as far as one that was renewed at this moment. */
  async function renewed(store: Store, clock: HandClock): Promise<void> {
    const isFree = () =>
      store.write((tx) =>
        tx.takeLease(
          { name: 'prune', heldBy: 'nobody', heldUntil: 0 },
          { now: clock.now() + LEASE_MS - 1, longestMs: LEASE_MAX_MS },
        ),
      )
    await until('the lease is renewed', async () => !(await isFree()))
  }
}
