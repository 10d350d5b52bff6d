import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { delivery, send, WEBHOOK_SECRET } from '../../support/app.ts'
import { head, openWire, statuses } from '../../support/wire.ts'
import { openDoor } from './bot.ts'

const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
const STRANGE = '/webhooks/builds/wrong'
const SLACK = '/slack/events'
const MIB = 1024 * 1024

const FORGED = {
  'content-type': 'application/x-www-form-urlencoded',
  'x-slack-request-timestamp': '1531420618',
  'x-slack-signature': `v0=${'0'.repeat(64)}`,
}
const JSON_TYPE = { 'content-type': 'application/json' }

/** Far more than the system's buffers between two processes take. */
const ENDLESS_BYTES = 64 * MIB
const BUFFERS_BYTES = 8 * MIB
const PIECE = Buffer.alloc(MIB / 4, 'x')

/** Sends a request with an endless body. @returns the answer's status, and how many bytes could be sent */
function sendEndless(url: string, path: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(url)
  return new Promise<{ status: number; sentBytes: number }>((resolve) => {
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    let [received, sentBytes] = ['', 0]
    socket.setEncoding('latin1').on('data', (text: string) => (received += text))
    // A reset is one way to close a connection.
    socket.on('error', () => {})
    socket.once('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0)
      resolve({ status, sentBytes })
    })
    socket.write(head(path, { 'content-length': ENDLESS_BYTES, ...headers }), sendOn)

    function sendOn(error?: Error | null): void {
      if (error || sentBytes === ENDLESS_BYTES) return
      socket.write(PIECE, (failure) => {
        sentBytes += failure ? 0 : PIECE.length
        sendOn(failure)
      })
    }
  })
}

it.each([
  ['that is too large', PATH, JSON_TYPE, 413],
  ['of another type', PATH, { 'content-type': 'application/xml' }, 415],
  ['that is compressed', PATH, { ...JSON_TYPE, 'content-encoding': 'gzip' }, 415],
  ['without the secret', STRANGE, JSON_TYPE, 404],
  ['that Slack signed too long ago', SLACK, FORGED, 413],
  ['for an unknown address', '/nowhere', JSON_TYPE, 404],
  ['for an address that needs no body', '/healthz', JSON_TYPE, 200],
])('a body %s is not read: its sender gets the answer, and the connection ends', async (_, path, headers, status) => {
  const door = await openDoor()
  const answer = await sendEndless(door.url, path, headers)
  expect(answer.status).toBe(status)
  expect(answer.sentBytes).toBeLessThan(BUFFERS_BYTES)
})

it('a small body that is refused is read to its end, so that a sender that reads late gets its answer', async () => {
  const door = await openDoor()
  const wire = openWire(door.url)
  wire.write(head(STRANGE, { ...JSON_TYPE, 'content-length': 32_000 }) + 'x'.repeat(32_000))
  await wire.closed
  expect(statuses(wire)).toEqual([404])
})

it('the request after a refused body is not answered', async () => {
  const door = await openDoor()
  const wire = openWire(door.url)
  wire.write(head('/nowhere', { 'content-length': 1_000 }) + 'x'.repeat(1_000))
  wire.write(head('/nowhere', { 'content-length': 0 }))
  await wire.closed
  expect(statuses(wire)).toEqual([404])
})

it('requests without a body, or whose body was read, may share a connection', async () => {
  const door = await openDoor()
  const wire = openWire(door.url)
  const body = JSON.stringify(delivery())
  wire.write(head('/nowhere', { 'content-length': 0 }))
  wire.write(head(PATH, { ...JSON_TYPE, 'content-length': 4 }) + 'none')
  wire.write(head(PATH, { ...JSON_TYPE, 'content-length': body.length, connection: 'close' }) + body)
  await wire.closed
  expect(statuses(wire)).toEqual([404, 400, 202])
})

it('no delivery waits for refused bodies, however many', async () => {
  const door = await openDoor()
  const strangers = Array.from({ length: 120 }, () => openWire(door.url))
  for (const wire of strangers) {
    wire.write(head(STRANGE, { ...JSON_TYPE, 'content-length': ENDLESS_BYTES }))
    wire.write('x'.repeat(MIB))
  }
  const answers = await Promise.all(
    [2_000, 200_000].map((chars, n) => send(door.url, delivery({ build_id: n + 1, comment: 'x'.repeat(chars) }))),
  )
  expect(answers.map(({ status }) => status)).toEqual([202, 202])
})
