import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { signedHeaders } from '../../packages/sandbox-slack/src/sign.ts'
import type { Attack, AttackKind, AttackResult } from './attack-order.ts'

// Strangers, a process of their own: takes one order as its argument, prints one result.

const AT_ONCE = 8
const SOCKETS = 200
const DRIP_EVERY_MS = 500
/** Other senders' deliveries are measured beside it: the generator itself must not be what they wait for. */
const PAUSE_MS = 5

const order = JSON.parse(process.argv[2]!) as Attack
const startedAt = performance.now()
process.stdout.write(JSON.stringify(await run()))
process.exit(0)

async function run(): Promise<AttackResult> {
  const slack = { timestampS: Math.floor(Date.now() / 1_000), form: 'application/x-www-form-urlencoded' }
  const forged = {
    'content-type': slack.form,
    'x-slack-request-timestamp': String(slack.timestampS),
    'x-slack-signature': `v0=${'0'.repeat(64)}`,
  }
  const json = { 'content-type': 'application/json' }
  const command = 'command=%2Fci&text=help&user_id=U0LIN&channel_id=C0BUILDS01&trigger_id=1'
  const attacks: Record<AttackKind, () => Promise<AttackResult>> = {
    'wrong secrets': () => again(request(`${order.path}x`, json, '{}')),
    'idle and slow sockets': () => holdSockets(),
    'large bodies': () => again(request(order.path, json, 'x'.repeat(5 * 1024 * 1024))),
    'deep bodies': () => again(request(order.path, json, `{"build":${'['.repeat(100_000)}`)),
    'gzip bombs': () => {
      const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024))
      return again(request(order.path, { ...json, 'content-encoding': 'gzip' }, bomb))
    },
    'header floods': () => again(request(order.path, { ...json, ...manyHeaders(2_000) }, '{}')),
    'unsigned bodies for Slack': () => again(request('/slack/events', forged, 'a&'.repeat(1_500_000))),
    replays: () =>
      again(
        request(
          '/slack/events',
          { 'content-type': slack.form, ...signedHeaders(order.signingSecret, slack.timestampS, command) },
          command,
        ),
      ),
  }
  return attacks[order.kind]()
}

function manyHeaders(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, 'y']))
}

function request(path: string, headers: Record<string, string>, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body)
  const all = { host: 'x', connection: 'close', 'content-length': String(bytes.length), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.concat([Buffer.from([`POST ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')), bytes])
}

/** The same again and again, on a connection of its own each time. */
async function again(bytes: Buffer): Promise<AttackResult> {
  const answers: Record<string, number> = {}
  let sent = 0
  const isOver = () => (order.count === undefined ? performance.now() - startedAt > order.forMs : sent >= order.count)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (!isOver()) {
        sent += 1
        const status = await answerTo(bytes)
        answers[status] = (answers[status] ?? 0) + 1
        await sleep(PAUSE_MS)
      }
    }),
  )
  return { answers, cutAfterMs: 0 }
}

function answerTo(bytes: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(order.port, '127.0.0.1')
    let received = ''
    socket.setEncoding('latin1').on('data', (text: string) => (received += text))
    socket.on('error', () => {})
    socket.once('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0)))
    socket.write(bytes)
  })
}

/** A quarter says nothing, a quarter half a head, a quarter drips its head, a quarter drips its body. */
async function holdSockets(): Promise<AttackResult> {
  const head = `POST ${order.path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`
  const says = ['', head, head, `${head}content-length: 200000\r\n\r\n`]
  const drips = [null, null, 'x: y\r\n', ' ']
  const closed = Array.from({ length: SOCKETS }, (_, n) => {
    const socket = connect(order.port, '127.0.0.1')
    socket.on('error', () => {}).on('data', () => {})
    socket.write(says[n % says.length]!)
    const drip = drips[n % drips.length]!
    const dripping = drip && setInterval(() => socket.writable && socket.write(drip), DRIP_EVERY_MS)
    return new Promise<void>((resolve) =>
      socket.once('close', () => {
        if (dripping) clearInterval(dripping)
        resolve()
      }),
    )
  })
  await Promise.all(closed)
  return { answers: {}, cutAfterMs: performance.now() - startedAt }
}
