import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { CONNECTIONS_MAX, WAITING_MAX } from '../../src/server/http-server.ts'
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

/** Opens a connection that sends this text and then nothing more. */
function hold(says = ''): Promise<Held> {
  const { hostname, port } = new URL(bot.url)
  const socket = connect(Number(port), hostname)
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

async function holdMany(count: number, says = ''): Promise<Held[]> {
  const held: Held[] = []
  for (let n = 0; n < count; n += AT_ONCE)
    held.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - n) }, () => hold(says)))))
  return held
}

const AT_ONCE = 100

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
