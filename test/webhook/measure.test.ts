import { expect, it } from 'vitest'
import { AT_ONCE_BYTES, LARGE_BYTES_PER_S } from '../../src/lib/trickle.ts'
import { delivery, send, WEBHOOK_SECRET } from '../support/app.ts'
import { head, openWire, statuses } from '../support/wire.ts'
import { openDoor } from './door.ts'

const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
const SLACK = '/slack/events'

/** A body that is large, and small enough to be thrown away to its end. */
const LARGE_BYTES = 2 * 1024 * 1024
/** What is read last need not be waited for. */
const PIECE_BYTES = 64 * 1024
const measureMs = (bytes: number) => ((bytes - AT_ONCE_BYTES - PIECE_BYTES) * 1_000) / LARGE_BYTES_PER_S

const FORGED = {
  'content-type': 'application/x-www-form-urlencoded',
  'x-slack-request-timestamp': String(Math.floor(Date.now() / 1_000)),
  'x-slack-signature': `v0=${'0'.repeat(64)}`,
}
const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends a body as fast as it is taken. @returns the answer's status, and after how long the connection was ended (ms) */
async function post(url: string, path: string, bytes: number, headers: Record<string, string>) {
  const wire = openWire(url)
  const beganAt = performance.now()
  wire.write(head(path, { connection: 'close', 'content-length': bytes, ...headers }))
  wire.write('x'.repeat(bytes))
  await wire.closed
  return { status: statuses(wire)[0], tookMs: performance.now() - beganAt }
}

it.each([
  ['that is refused', PATH, LARGE_BYTES, JSON_TYPE, 413],
  ['that is taken, and is no JSON', PATH, 256 * 1024, JSON_TYPE, 400],
  ['that may be signed, and is not', SLACK, LARGE_BYTES, FORGED, 401],
])('a large body %s is read at the measure', async (_, path, bytes, headers, status) => {
  const door = await openDoor()
  const answer = await post(door.url, path, bytes, headers)
  expect(answer.status).toBe(status)
  expect(answer.tookMs).toBeGreaterThanOrEqual(measureMs(bytes))
})

it('large bodies share the measure, and a delivery does not wait for them', async () => {
  const door = await openDoor()
  const beganAt = performance.now()
  const large = Array.from({ length: 3 }, () => post(door.url, PATH, LARGE_BYTES, JSON_TYPE))
  const isFirst = await Promise.race([
    Promise.any(large).then(() => false),
    send(door.url, delivery({})).then(({ status }) => status === 202),
  ])
  expect(isFirst).toBe(true)
  expect((await Promise.all(large)).map(({ status }) => status)).toEqual([413, 413, 413])
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(measureMs(LARGE_BYTES) * 2)
})
