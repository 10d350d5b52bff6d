import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../../src/store/postgres.ts'
import { openGate } from '../outages/gate.ts'
import { startPostgres } from '../support/postgres.ts'

const server = await startPostgres()
afterAll(() => ('impossible' in server ? undefined : server[Symbol.asyncDispose]()))

/** Longer than a statement and the silence after it may take. */
const SILENT_MS = 13_000

async function openThroughGate() {
  if ('impossible' in server) throw new Error(server.impossible)
  const url = new URL(await server.createDatabase())
  const gate = await openGate({ host: url.hostname, port: Number(url.port) })
  url.port = String(gate.port)
  const idleErrors: Error[] = []
  const store = openPostgres(url.href, (error) => void idleErrors.push(error))
  await store.migrate()
  await store.ping()
  return { gate, store, idleErrors, [Symbol.asyncDispose]: () => store.close() }
}

describe.skipIf('impossible' in server).concurrent('a connection to PostgreSQL', () => {
  test('on which no answer comes is given up in time', { timeout: 3 * SILENT_MS }, async () => {
    await using place = await openThroughGate()
    place.gate.swallow()
    const askedAt = performance.now()
    await expect(place.store.ping()).rejects.toThrow('the database server does not respond')
    expect(performance.now() - askedAt).toBeLessThan(SILENT_MS)
    place.gate.open()
    await place.store.ping()
  })

  test('that is idle for as long is kept', { timeout: 3 * SILENT_MS }, async () => {
    await using place = await openThroughGate()
    await sleep(SILENT_MS)
    expect(place.idleErrors).toEqual([])
    await place.store.ping()
  })
})
