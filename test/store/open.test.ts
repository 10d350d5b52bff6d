import { describe, expect, it, test } from 'vitest'
import { CiError } from '../../src/sources/http/errors.ts'
import { type Transport, observedTransport } from '../../src/sources/http/transport.ts'
import { measuredStore, openStore } from '../../src/store/open.ts'
import { NotAttempted } from '../../src/store/not-attempted.ts'
import { T0 } from '../support/build-events.ts'
import { sqlitePlaces } from '../support/stores.ts'

describe('a measured store', () => {
  it('behaves like the store, and reports the time and failure of each operation', async () => {
    await using places = await sqlitePlaces()
    await using place = await places.open()
    const told: string[] = []
    const store = measuredStore(place.store, {
      timeStore: (operation, ms) => void told.push(`${operation} ${ms >= 0 ? 'took its time' : ms}`),
      countStoreFailure: (operation) => void told.push(`${operation} failed`),
    })
    await store.write((tx) => tx.setLastDoneAt('prune', T0))
    expect(await store.read.lastDoneAt('prune')).toBe(T0)
    expect(told).toEqual(['write took its time', 'read took its time'])
    await expect(store.write(() => Promise.reject(new Error('no database')))).rejects.toThrow('no database')
    expect(told.splice(2)).toEqual(['write failed', 'write took its time'])
    await expect(store.write(() => Promise.reject(new NotAttempted('given up')))).rejects.toThrow('given up')
    expect(told.splice(2)).toEqual(['write took its time'])
    expect(Object.keys(store.read)).toEqual(Object.keys(place.store.read))
    expect(store.shared).toBe(place.store.shared)
  })
})

describe('counted calls of CI', () => {
  const request = { method: 'GET', url: new URL('http://ci.example/'), purpose: 'ask', secrets: [] } as const

  async function endOf(send: Transport['send']): Promise<{ told: string[]; threw: unknown }> {
    const told: string[] = []
    const counted = observedTransport({ send, close: async () => {} }, (end) => void told.push(end))
    const threw = await counted.send(request).then(
      () => null,
      (error: unknown) => error,
    )
    return { told, threw }
  }

  it('are counted as ok, by the kind of error, or as stopped, and have the same result', async () => {
    const refused = new CiError({ kind: 'forbidden', purpose: 'ask' })
    const gone = new Error('nobody wants to know any more')
    const fine = { status: 200, headers: {}, text: '' }
    expect(await endOf(async () => fine as never)).toEqual({ told: ['ok'], threw: null })
    expect(await endOf(() => Promise.reject(refused))).toEqual({ told: ['forbidden'], threw: refused })
    expect(await endOf(() => Promise.reject(gone))).toEqual({ told: ['stopped'], threw: gone })
  })
})

// Linux denies that an existing parent exists here, for which `mkdir -p` of Node tries for ever.
test.runIf(process.platform === 'linux')('a folder that cannot be made fails at once', async () => {
  await expect(openStore({ kind: 'sqlite', path: '/proc/x/builds.db' })).rejects.toThrow('/proc/x')
})
