import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { CONNECTIONS_MAX, SHARE_MAX, WAITING_MAX } from '../../src/http/http-server.ts'
import { buildOf, delivery, rowsOf, send, until } from '../support/app.ts'
import { openWire, statuses } from '../support/wire.ts'
import { PATH, residentMB, startBot, type Bot } from './bot.ts'

let bot: Bot
beforeAll(async () => void (bot = await startBot()))
afterAll(() => bot.stop())

interface Held {
  socket: Socket
  isOpen: () => boolean
}

/** Opens a connection, from an address of this machine, that sends this text and then nothing more. */
function hold(says = '', localAddress = HERE): Promise<Held> {
  const { hostname: host, port } = new URL(bot.url)
  const socket = connect({ port: Number(port), host, localAddress })
  onTestFinished(() => void socket.destroy())
  let isOpen = true
  socket.on('error', () => {})
  socket.on('data', () => {})
  socket.once('close', () => (isOpen = false))
  return new Promise((resolve) =>
    socket.once('connect', () => {
      if (says !== '') socket.write(says)
      resolve({ socket, isOpen: () => isOpen })
    }),
  )
}

async function holdMany(count: number, says = '', from = HERE): Promise<Held[]> {
  const held: Held[] = []
  for (let n = 0; n < count; n += AT_ONCE)
    held.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - n) }, () => hold(says, from)))))
  return held
}

const AT_ONCE = 100
const HERE = '127.0.0.1'

it(`beyond ${CONNECTIONS_MAX} connections the one idle for longest is closed, and a new one is accepted`, async () => {
  const before = residentMB(bot.pid)
  const first = await hold()
  const others = await holdMany(CONNECTIONS_MAX - 1)
  // The connection that has just sent a request is no longer the one idle for longest.
  first.socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  await new Promise((resolve) => first.socket.once('data', resolve))
  expect(others.every(({ isOpen }) => isOpen())).toBe(true)
  const newcomer = await hold()
  await until('one of the idle is closed', () => others.some(({ isOpen }) => !isOpen()))
  expect(others.findIndex(({ isOpen }) => !isOpen())).toBe(0)
  expect([first.isOpen(), newcomer.isOpen()]).toEqual([true, true])
  expect((await send(bot.url, delivery(buildOf(1)))).status).toBe(202)
  expect(residentMB(bot.pid) - before).toBeLessThan(64)
})

it(`an address with more than ${SHARE_MAX} connections loses its own, and no older one of another address`, async () => {
  const honest = await holdMany(SHARE_MAX)
  const strangers = await holdMany(CONNECTIONS_MAX - SHARE_MAX, '', '127.0.0.2')
  const newcomers = await holdMany(10)
  await until('strangers lose theirs', () => strangers.filter(({ isOpen }) => !isOpen()).length >= 10)
  expect([...honest, ...newcomers].every(({ isOpen }) => isOpen())).toBe(true)
})

it(`if no address has more than ${SHARE_MAX} connections, the one idle for longest is closed`, async () => {
  const held: Held[] = []
  for (let n = 0; n < CONNECTIONS_MAX / SHARE_MAX; n++)
    held.push(...(await holdMany(SHARE_MAX, '', `127.0.1.${n + 1}`)))
  await hold('', '127.0.2.1')
  await until('one is closed', () => held.some(({ isOpen }) => !isOpen()))
  expect(held.findIndex(({ isOpen }) => !isOpen())).toBe(0)
})

it('thousands of connections, half of them in the middle of a head, do not block a delivery', async () => {
  const half = `POST ${PATH} HTTP/1.1\r\nhost: x\r\nx-`
  const held = [...(await holdMany(2 * CONNECTIONS_MAX)), ...(await holdMany(CONNECTIONS_MAX, half))]
  for (let n = 2; n < 12; n++) expect((await send(bot.url, delivery(buildOf(n)))).status).toBe(202)
  await until('as many are open as may be', () => held.filter(({ isOpen }) => isOpen()).length <= CONNECTIONS_MAX)
})

const slow = (build: number): string => {
  const body = JSON.stringify(delivery(buildOf(build)))
  return `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

it(`${WAITING_MAX} requests may wait on one connection, and each gets its answer`, async () => {
  const wire = openWire(bot.url)
  wire.write(Array.from({ length: WAITING_MAX }, (_, n) => slow(100 + n)).join(''))
  await until('all answers', () => statuses(wire).length === WAITING_MAX)
  expect(new Set(statuses(wire))).toEqual(new Set([202]))
  wire.write(slow(199))
  await until('one more', () => statuses(wire).length === WAITING_MAX + 1)
})

it('a connection with one waiting request too many is closed, and no more of its requests are started', async () => {
  const wire = openWire(bot.url)
  wire.write(Array.from({ length: 4 * WAITING_MAX }, (_, n) => slow(200 + n)).join(''))
  await wire.closed
  expect((await send(bot.url, delivery(buildOf(300)))).status).toBe(202)
  expect(
    rowsOf(bot.folder, 'select * from fact where cast(build_id as integer) between 200 and 299').length,
  ).toBeLessThanOrEqual(WAITING_MAX)
})

it('ten thousand requests at once make the bot close their connection, and use no extra memory', async () => {
  const before = residentMB(bot.pid)
  const { socket, isOpen } = await hold()
  socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(10_000))
  await until('it is closed', () => !isOpen())
  expect((await fetch(`${bot.url}/metrics`)).status).toBe(200)
  expect(residentMB(bot.pid) - before).toBeLessThan(64)
})
