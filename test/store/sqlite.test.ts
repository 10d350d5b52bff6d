import { renameSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sqlitePlaces, type Places } from '../support/stores.ts'
import { closingClaims } from './claims/closing.ts'
import { isolationClaims } from './claims/isolation.ts'
import { migrationClaims } from './claims/migration.ts'
import { upgradeClaims } from './claims/upgrade.ts'
import { conformance } from './conformance.ts'

/** `pragma synchronous`: SQLite syncs when it merges the log; `store/disk` syncs commits. */
const NORMAL = 1

describe('the store in SQLite', () => {
  let places: Places
  beforeAll(async () => {
    places = await sqlitePlaces()
  })
  afterAll(() => places[Symbol.asyncDispose]())

  conformance(() => places)
  // Two processes may both find no tables. The second must not fail to create them: three rounds provoke that.
  describe('migration', () => migrationClaims(() => places, 3))
  describe('upgrade', () => upgradeClaims(() => places))
  describe('isolation', () => isolationClaims(() => places))
  describe('closing', () => closingClaims(() => places))

  test('every connection of the product uses the write-ahead log', async () => {
    using exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    await using place = await places.open()
    await place.store.ping()
    const connections = [...new Set(exec.mock.contexts as DatabaseSync[])]
    const settings = connections.map((db) => [
      db.prepare('pragma journal_mode').get()?.['journal_mode'],
      db.prepare('pragma synchronous').get()?.['synchronous'],
    ])
    expect(settings).toEqual([
      ['wal', NORMAL],
      ['wal', NORMAL],
    ])
  })

  test('concurrent writes share one commit', async () => {
    await using place = await places.open()
    using exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    await Promise.all(['a', 'b', 'c'].map((job) => place.store.write((tx) => tx.setLastDoneAt(job, 1))))
    expect(exec.mock.calls.filter(([text]) => text === 'commit')).toHaveLength(1)
  })

  test('slow writes that come together do not hold the event loop together', async () => {
    await using place = await places.open()
    const slow = () =>
      place.store.write(async () => {
        const endsAt = performance.now() + 15
        while (performance.now() < endsAt);
      })
    let turns = 0
    const turning = setInterval(() => (turns += 1))
    await Promise.all(Array.from({ length: 20 }, slow))
    clearInterval(turning)
    // On a busy machine each takes longer, and the loop turns all the same.
    expect(turns).toBeGreaterThan(10)
  })

  test('a write waits while another process has the file locked, and is stored', async () => {
    await using place = await places.open()
    using holder = new DatabaseSync(place.url.slice('sqlite:'.length))
    holder.exec('begin immediate')
    using exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    const written = place.store.write((tx) => tx.setLastDoneAt('job', 1))
    await vi.waitFor(() => expect(exec.mock.calls.filter(([text]) => text === 'begin immediate')).toHaveLength(2))
    holder.exec('rollback')
    await written
    expect(await place.store.read.lastDoneAt('job')).toBe(1)
  })

  test('a write is refused at once if the database file was removed', async () => {
    await using place = await places.open()
    const path = place.url.slice('sqlite:'.length)
    await place.store.write((tx) => tx.setLastDoneAt('job', 1))
    renameSync(path, `${path}.aside`)
    const beganAt = performance.now()
    await expect(place.store.write((tx) => tx.setLastDoneAt('job', 2))).rejects.toThrow(
      'removed, replaced or overwritten',
    )
    // A lock is waited for two seconds.
    expect(performance.now() - beganAt).toBeLessThan(1_500)
    renameSync(`${path}.aside`, path)
  })

  test('the store knows that its database is not shared', async () => {
    await using place = await places.open()
    expect(place.store.shared).toBe(false)
  })

  test('a missing folder is created with the file', async () => {
    await using place = await places.openEmpty()
    await expect(place.store.ping()).resolves.toBeUndefined()
  })
})
