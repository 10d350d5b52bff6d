import { expect, it } from 'vitest'
import { AT_ONCE_BYTES, LARGE_BYTES_PER_S } from '../../src/lib/trickle.ts'
import { delivery, send, until, WEBHOOK_SECRET } from '../support/app.ts'
import { head, openWire, statuses } from '../support/wire.ts'
import { openDoor } from './door.ts'

const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
const STRANGE = '/webhooks/builds/wrong'
const SLACK = '/slack/events'

/** A body that is large, and small enough to be thrown away to its end. */
const LARGE_BYTES = 2 * 1024 * 1024
/** What is read last need not be waited for. */
const PIECE_BYTES = 64 * 1024
const measureMs = (bodies: number, bytes: number) =>
  ((bodies * (bytes - AT_ONCE_BYTES) - PIECE_BYTES) * 1_000) / LARGE_BYTES_PER_S

const FORGED = {
  'content-type': 'application/x-www-form-urlencoded',
  'x-slack-request-timestamp': String(Math.floor(Date.now() / 1_000)),
  'x-slack-signature': `v0=${'0'.repeat(64)}`,
}
const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends a body as fast as it is taken. */
function begin(url: string, path: string, bytes: number, headers: Record<string, string>) {
  const wire = openWire(url)
  wire.write(head(path, { connection: 'close', 'content-length': bytes, ...headers }))
  wire.write('x'.repeat(bytes))
  return wire
}

/** @returns the answer's status, and after how long the connection was ended (ms) */
async function post(...request: Parameters<typeof begin>) {
  const beganAt = performance.now()
  const wire = begin(...request)
  await wire.closed
  return { status: statuses(wire)[0], tookMs: performance.now() - beganAt }
}

it.each([
  ['that are refused', PATH, 1, LARGE_BYTES, JSON_TYPE, 413],
  ['that are taken, and are no JSON', PATH, 10, 256 * 1024, JSON_TYPE, 400],
  ['that may be signed, and are not', SLACK, 1, LARGE_BYTES, FORGED, 401],
])('large bodies %s are read at the measure', async (_, path, bodies, bytes, headers, status) => {
  const door = await openDoor()
  const answers = await Promise.all(Array.from({ length: bodies }, () => post(door.url, path, bytes, headers)))
  expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: bodies }, () => status))
  expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeGreaterThanOrEqual(measureMs(bodies, bytes))
})

it.each([
  ['of another type', PATH, { 'content-type': 'application/xml' }, 415],
  ['sent to no place', '/nowhere', JSON_TYPE, 404],
  ['sent along with a question', '/healthz', JSON_TYPE, 200],
])('a large body %s is read at the measure, before what is asked next', async (_, path, headers, status) => {
  const door = await openDoor()
  const wire = openWire(door.url)
  const beganAt = performance.now()
  wire.write(head(path, { 'content-length': LARGE_BYTES, ...headers }))
  wire.write('x'.repeat(LARGE_BYTES))
  wire.write(head('/nowhere', { connection: 'close', 'content-length': 0 }))
  await wire.closed
  expect(statuses(wire)).toEqual([status, 404])
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(measureMs(1, LARGE_BYTES))
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
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(measureMs(3, LARGE_BYTES))
})

it('not even a large delivery waits for what strangers send', async () => {
  const door = await openDoor()
  const strangers = Array.from({ length: 120 }, () => begin(door.url, STRANGE, 256 * 1024, JSON_TYPE))
  await until('all are refused', () => strangers.every((wire) => statuses(wire).length === 1))
  const { status } = await send(door.url, delivery({ comment: 'x'.repeat(200 * 1024) }))
  expect([status, strangers.filter((wire) => wire.isOpen()).length]).toEqual([202, strangers.length])
})
