import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sqlitePlaces, type Places } from '../support/stores.ts'
import { closingClaims } from './claims/closing.ts'
import { isolationClaims } from './claims/isolation.ts'
import { migrationClaims } from './claims/migration.ts'
import { upgradeClaims } from './claims/upgrade.ts'
import { conformance } from './conformance.ts'

/** `pragma synchronous`: SQLite waits for the disk where it merges the log; for a commit, `log-on-disk` does. */
const NORMAL = 1

describe('the store in SQLite', () => {
  let places: Places
  beforeAll(async () => {
    places = await sqlitePlaces()
  })
  afterAll(() => places[Symbol.asyncDispose]())

  conformance(() => places)
  // Nothing keeps two processes from finding no tables at the same time: the second one then fails to make them.
  describe('migration', () => migrationClaims(() => places, 5))
  describe('upgrade', () => upgradeClaims(() => places))
  describe('isolation', () => isolationClaims(() => places))
  describe('closing', () => closingClaims(() => places))

  test('every connection of the product writes ahead', async () => {
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

  test('writes of the same moment share one commit', async () => {
    await using place = await places.open()
    using exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    await Promise.all(['a', 'b', 'c'].map((job) => place.store.write((tx) => tx.setLastDoneAt(job, 1))))
    expect(exec.mock.calls.filter(([text]) => text === 'commit')).toHaveLength(1)
  })

  test('a write waits while another process holds the file, and is kept', async () => {
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

  test('the file is known to be this process’s own', async () => {
    await using place = await places.open()
    expect(place.store.shared).toBe(false)
  })

  test('a file whose folder is missing is made with it', async () => {
    await using place = await places.openEmpty()
    await expect(place.store.ping()).resolves.toBeUndefined()
  })
})
