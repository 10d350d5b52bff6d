import { expect, test } from 'vitest'
import { T0 } from '../../support/build-events.ts'
import { closeOnce, type Places } from '../../support/stores.ts'
import { buildEvent, hear, REVISION, several, waiting } from '../given.ts'

const JOB = 'refresh-projects'

class Refused extends Error {}

/** More than one batch of the group commit. */
const MANY = 300

/** Writes are durable when they resolve, atomic, and independent of each other. */
export function writeClaims(places: () => Places): void {
  test('a resolved write is visible after the database was closed and opened again', async () => {
    await using place = await places().open()
    const seq = await hear(place.store)
    await closeOnce(place.store)
    const buildEvents = await waiting(place.another().read)
    expect(buildEvents.map((each) => each.seq)).toEqual([seq])
  })

  test('a resolved write is committed and visible on every connection', async () => {
    await using place = await places().open()
    const other = place.another()
    await place.store.write((tx) => tx.setLastDoneAt(JOB, T0))
    expect(await other.read.lastDoneAt(JOB)).toBe(T0)
    expect(await place.sql('select name from job')).toEqual([{ name: JOB }])
  })

  test('a write resolves with what its work returns', async () => {
    await using place = await places().open()
    expect(await place.store.write(async () => 'as returned')).toBe('as returned')
  })

  test('an unfinished write is visible only to itself', async () => {
    await using place = await places().open()
    const within = await place.store.write(async (tx) => {
      await tx.setLastDoneAt(JOB, T0)
      return { own: await tx.lastDoneAt(JOB), outside: await place.store.read.lastDoneAt(JOB) }
    })
    expect(within).toEqual({ own: T0, outside: null })
    expect(await place.store.read.lastDoneAt(JOB)).toBe(T0)
  })

  test('a write that throws is rejected with its own error and rolled back', async () => {
    await using place = await places().open()
    const failing = place.store.write(async (tx) => {
      await tx.insertBuildEvent(...buildEvent())
      await tx.wakeRevision(REVISION, T0, 0)
      throw new Refused('no')
    })
    await expect(failing).rejects.toThrow(Refused)
    expect(await waiting(place.store.read)).toEqual([])
    expect(await place.store.read.ingestOf(REVISION)).toBeNull()
  })

  test('a write that throws before its first await affects no other write', async () => {
    await using place = await places().open()
    const failing = place.store.write(() => {
      throw new Refused('at once')
    })
    const after = place.store.write((tx) => tx.setLastDoneAt(JOB, T0))
    await expect(failing).rejects.toThrow(Refused)
    await after
    expect(await place.store.read.lastDoneAt(JOB)).toBe(T0)
  })

  test('concurrent writes succeed even if one of them throws', async () => {
    await using place = await places().open()
    const writes = several(20, (i) =>
      place.store.write(async (tx) => {
        await tx.setLastDoneAt(`job-${i}`, T0 + i)
        if (i === 7) throw new Refused(`job-${i}`)
        return i
      }),
    )
    const settled = await Promise.allSettled(writes)
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(several(20, (i) => i !== 7))
    const done = await Promise.all(several(20, (i) => place.store.read.lastDoneAt(`job-${i}`)))
    expect(done).toEqual(several(20, (i) => (i === 7 ? null : T0 + i)))
  })

  test('a write that the database rejects affects no other write', async () => {
    await using place = await places().open()
    const refused = place.store.write(async (tx) => {
      await tx.setLastDoneAt('refused', T0)
      await tx.insertDelivery({ receivedAt: T0, answer: 'recorded', eventSeq: 1, body: null as unknown as string })
    })
    const other = place.store.write((tx) => tx.setLastDoneAt(JOB, T0))
    await expect(refused).rejects.toThrow()
    await other
    expect(await place.store.read.lastDoneAt('refused')).toBeNull()
    expect(await place.store.read.lastDoneAt(JOB)).toBe(T0)
  })

  test('many concurrent writes are each stored once', async () => {
    await using place = await places().open()
    const seqs = await Promise.all(several(MANY, (i) => hear(place.store, { build: String(i + 1) })))
    const buildEvents = await waiting(place.store.read)
    expect(buildEvents.map(({ seq }) => seq)).toEqual(seqs.toSorted((a, b) => a - b))
    expect(new Set(buildEvents.map(({ buildId }) => buildId)).size).toBe(MANY)
  })

  test('a write during closing is stored if it resolves, and not if it is rejected', async () => {
    await using place = await places().open()
    const writes = several(MANY, (i) => place.store.write((tx) => tx.setLastDoneAt(`job-${i}`, T0)))
    await closeOnce(place.store)
    const settled = await Promise.allSettled(writes)
    const resolved = settled.flatMap(({ status }, i) => (status === 'fulfilled' ? [`job-${i}`] : []))
    const kept = (await place.sql('select name from job')).map(({ name }) => String(name))
    expect(kept.toSorted()).toEqual(resolved.toSorted())
  })

  test('an open store answers a ping, a closed one does not', async () => {
    await using place = await places().open()
    await place.store.read.lastDoneAt(JOB)
    await expect(place.store.ping()).resolves.toBeUndefined()
    await closeOnce(place.store)
    await expect(place.store.ping()).rejects.toThrow()
  })
}
