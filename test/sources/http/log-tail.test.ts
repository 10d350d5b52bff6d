import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readLogTail } from '../../../src/sources/http/log-tail.ts'

/** A file store on this machine, and the requests that reached it. */
async function openStore(answer: RequestListener) {
  const requests: { url: string; headers: object }[] = []
  const server = createServer((request, response) => {
    requests.push({ url: request.url!, headers: request.headers })
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const own = new URL('http://127.0.0.1:1')
  return { requests, port, read: (path: string) => readLogTail(`http://127.0.0.1:${port}${path}`, own) }
}

const MB = 1024 * 1024

test('a short log is read whole, without any credentials', async () => {
  const store = await openStore((_, response) => response.end('one\ntwo\n'))
  expect(await store.read('/log?sig=abc')).toBe('one\ntwo\n')
  expect(store.requests).toMatchObject([{ url: '/log?sig=abc' }])
  expect(Object.keys(store.requests[0]!.headers)).not.toContain('authorization')
})

test('of a log of 200 MB only the end is read, where the server gives parts of it', async () => {
  const length = 200 * MB
  let sent = 0
  const store = await openStore((request, response) => {
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    if (!range) return response.writeHead(200, { 'content-length': length, 'accept-ranges': 'bytes' }).flushHeaders()
    sent = Number(range[2]) - Number(range[1]) + 1
    response.writeHead(206).end('x'.repeat(sent - 4) + 'end\n')
  })
  const tail = await store.read('/log')
  expect([tail?.endsWith('end\n'), sent <= MB]).toEqual([true, true])
})

test('of a long log that is sent whole the end is kept, and one that does not end is given up', async () => {
  const piece = 'x'.repeat(MB)
  const store = await openStore((request, response) => {
    let left = request.url === '/endless' ? Number.POSITIVE_INFINITY : 3
    const more = (error?: Error | null): void => {
      // The reader is gone.
      if (error || response.destroyed) return
      if (left-- <= 0) return void response.end('end\n')
      response.write(piece, more)
    }
    response.on('error', () => {})
    more()
  })
  const before = process.memoryUsage().rss
  const tail = await store.read('/long')
  expect([tail?.length, tail?.endsWith('xend\n')]).toEqual([256 * 1024, true])
  expect(await store.read('/endless')).toBeNull()
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * MB)
})

test.each([
  ['a redirect', 302],
  ['a log that has expired', 410],
  ['a refusal', 403],
])('%s is no log', async (_, status) => {
  const store = await openStore((__, response) => response.writeHead(status, { location: '/elsewhere' }).end('text'))
  expect(await store.read('/log')).toBeNull()
  expect(store.requests).toHaveLength(1)
})

test.each([
  ['plain HTTP elsewhere', (port: number) => `http://localhost:${port}/log`],
  ['a private address', () => 'https://10.0.0.1/log'],
  ['this machine', (port: number) => `https://127.0.0.2:${port}/log`],
  ['a private address in IPv6', (port: number) => `https://[::1]:${port}/log`],
  ['a private address of IPv4, written as IPv6', () => 'https://[::ffff:192.168.0.1]/log'],
  ['the address of a cloud’s metadata', () => 'https://169.254.169.254/latest/meta-data'],
  ['a name that leads to this machine', (port: number) => `https://localhost:${port}/log`],
  ['an address with credentials', () => 'https://user:password@example.com/log'],
  ['no address', () => 'javascript:alert(1)'],
])('%s is not asked', async (_, address) => {
  const store = await openStore((__, response) => response.end('secret'))
  expect(await readLogTail(address(store.port), new URL('https://api.github.com'))).toBeNull()
  expect(store.requests).toEqual([])
})
