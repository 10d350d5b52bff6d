import { expect, it } from 'vitest'
import { AT_ONCE_BYTES, LARGE_BYTES_PER_S } from '../../../src/server/rate-limiter.ts'
import { delivery, send, until, WEBHOOK_SECRET } from '../../support/app.ts'
import { head, openWire, statuses } from '../../support/wire.ts'
import { openDoor } from './door.ts'

const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
const STRANGE = '/webhooks/builds/wrong'
const SLACK = '/slack/events'

/** A large body, still small enough to be read to its end and discarded. */
const LARGE_BYTES = 2 * 1024 * 1024
/** The last piece is not waited for. */
const PIECE_BYTES = 64 * 1024
const measureMs = (bodies: number, bytes: number) =>
  ((bodies * (bytes - AT_ONCE_BYTES) - PIECE_BYTES) * 1_000) / LARGE_BYTES_PER_S

const FORGED = {
  'content-type': 'application/x-www-form-urlencoded',
  'x-slack-request-timestamp': String(Math.floor(Date.now() / 1_000)),
  'x-slack-signature': `v0=${'0'.repeat(64)}`,
}
const JSON_TYPE = { 'content-type': 'application/json' }
const COMPRESSED = { ...JSON_TYPE, 'content-encoding': 'gzip' }

/** Sends a body as fast as the server accepts it. */
function begin(url: string, path: string, bytes: number, headers: Record<string, string>) {
  const wire = openWire(url)
  wire.write(head(path, { connection: 'close', 'content-length': bytes, ...headers }))
  wire.write('x'.repeat(bytes))
  return wire
}

/** @returns the status of the answer, and the time until the connection was closed (ms) */
async function post(...request: Parameters<typeof begin>) {
  const beganAt = performance.now()
  const wire = begin(...request)
  await wire.closed
  return { status: statuses(wire)[0], tookMs: performance.now() - beganAt }
}

it.each([
  ['that are refused', PATH, 1, LARGE_BYTES, JSON_TYPE, 413],
  ['that are accepted but are not JSON', PATH, 10, 256 * 1024, JSON_TYPE, 400],
  ['that claim to be signed but are not', SLACK, 1, LARGE_BYTES, FORGED, 401],
])('large bodies %s are read at the limited rate', async (_, path, bodies, bytes, headers, status) => {
  const door = await openDoor()
  const answers = await Promise.all(Array.from({ length: bodies }, () => post(door.url, path, bytes, headers)))
  expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: bodies }, () => status))
  expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeGreaterThanOrEqual(measureMs(bodies, bytes))
})

it.each([
  ['of another type', PATH, { 'content-type': 'application/xml' }, 415],
  ['for an unknown address', '/nowhere', JSON_TYPE, 404],
  ['for an address that needs no body', '/healthz', JSON_TYPE, 200],
])('a large body %s is read at the limited rate, before the next request is read', async (_, path, headers, status) => {
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

it('large bodies share the rate limit, and a delivery does not wait for them', async () => {
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

it('not even a large delivery waits for the bodies from strangers', async () => {
  const door = await openDoor()
  const strangers = Array.from({ length: 120 }, () => begin(door.url, STRANGE, 256 * 1024, JSON_TYPE))
  await until('some are refused', () => strangers.some((wire) => statuses(wire).length === 1))
  const { status } = await send(door.url, delivery({ comment: 'x'.repeat(200 * 1024) }))
  expect(status).toBe(202)
  // Their own turns last for as long as the server reads from them.
  expect(strangers.filter((wire) => wire.isOpen()).length).toBeGreaterThan(strangers.length / 2)
})

const AT_ONCE = 60
/** A body sent in one piece arrives in one piece, except sometimes for its last bytes. */
const COME_BYTES = 40 * 1024
const body = 'x'.repeat(COME_BYTES + 8 * 1024)
const manyHeaders = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`x${n}`, 'y']))
const refusedAtOnce: [string, string, number[], number][] = [
  ['a compressed body', head(PATH, { ...COMPRESSED, 'content-length': body.length }) + body, [415], COME_BYTES],
  ['a body without the secret', head(STRANGE, { 'content-length': body.length }) + body, [404, 429], COME_BYTES],
  ['a body that Slack did not sign', head(SLACK, { 'content-length': body.length }) + body, [401], COME_BYTES],
  ['a head that is too large', head(PATH, manyHeaders) + body, [431], AT_ONCE_BYTES + COME_BYTES],
]
it.each(refusedAtOnce)('%s is answered after its bytes have had their turn', async (_, bytes, answers, costBytes) => {
  const door = await openDoor()
  await fetch(door.url + SLACK, { method: 'POST' })
  const beganAt = performance.now()
  const wires = Array.from({ length: AT_ONCE }, () => openWire(door.url))
  for (const wire of wires) wire.write(bytes)
  await until('an answer', () => wires.some((wire) => statuses(wire).length > 0))
  expect((await send(door.url, delivery({}))).status).toBe(202)
  expect(wires.some((wire) => statuses(wire).length === 0)).toBe(true)
  await until('every answer', () => wires.every((wire) => statuses(wire).length > 0))
  expect(performance.now() - beganAt).toBeGreaterThan((AT_ONCE * costBytes * 1_000) / LARGE_BYTES_PER_S / 2)
  expect(new Set(wires.map((wire) => statuses(wire)[0]))).toEqual(new Set(answers))
})

it('a sender that leaves before its turn delays nobody', async () => {
  const door = await openDoor()
  const gone = Array.from({ length: 200 }, () => openWire(door.url))
  for (const wire of gone) wire.write(head(STRANGE, { 'content-length': body.length }) + body)
  await until('an answer', () => gone.some((wire) => statuses(wire).length > 0))
  for (const wire of gone) wire.cut()
  const beganAt = performance.now()
  const wire = openWire(door.url)
  wire.write(head(STRANGE, { 'content-length': body.length }) + body)
  await until('an answer', () => statuses(wire).length > 0)
  expect(performance.now() - beganAt).toBeLessThan((gone.length * COME_BYTES * 1_000) / LARGE_BYTES_PER_S / 2)
})

it('a small request is refused at once, however much others have sent', async () => {
  const door = await openDoor()
  const wires = Array.from({ length: 60 }, () => openWire(door.url))
  for (const wire of wires) wire.write(head(STRANGE, { 'content-length': body.length }) + body)
  await until('an answer', () => wires.some((wire) => statuses(wire).length > 0))
  expect((await send(door.url, 'no JSON')).status).toBe(400)
  expect(wires.some((wire) => statuses(wire).length === 0)).toBe(true)
})
