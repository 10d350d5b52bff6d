import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HEAD_BYTES_MAX, HEADERS_MAX } from '../../src/http/http-server.ts'
import { DELIVERY_BYTES_MAX } from '../../src/sources/ci-service/endpoint.ts'
import { WRONG_MAX } from '../../src/sources/webhook-route.ts'
import { buildOf, delivery, rowsOf, send, until } from '../support/app.ts'
import { answerTo, NEXT, PATH, startBot, statusesIn, type Bot } from './bot.ts'

let bot: Bot
beforeAll(async () => void (bot = await startBot()))
afterAll(() => bot.stop())

const stored = () => rowsOf(bot.folder, 'select * from delivery').length

/** Sends these bytes and then a second request: its answer shows where the server saw the end of the first. */
const answered = async (...pieces: readonly (string | Uint8Array)[]): Promise<number[]> =>
  statusesIn(await answerTo(bot.url, ...pieces, NEXT))

let build = 0
const fresh = (): string => JSON.stringify(delivery(buildOf((build += 1))))

function request(body: string, headers: Record<string, string> = {}, { version = '1.1', path = PATH } = {}): string {
  const all = { host: 'x', 'content-type': 'application/json', 'content-length': String(body.length), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${path} HTTP/${version}`, ...lines, '', body].join('\r\n')
}

const chunked = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
const headOf = (headers: Record<string, string>): string =>
  [`POST ${PATH} HTTP/1.1`, 'host: x', ...Object.entries(headers).map((one) => one.join(': ')), '', ''].join('\r\n')

describe('a delivery whose end is ambiguous', () => {
  const inside = request(JSON.stringify(delivery({ build_id: 9_999, message: 'smuggled' })))
  const one = (headers: readonly string[], rest: string): string =>
    [`POST ${PATH} HTTP/1.1`, 'host: x', 'content-type: application/json', ...headers, '', rest].join('\r\n')

  it.each([
    ['two different lengths', one(['content-length: 2', 'content-length: 4'], `{}${inside}`)],
    ['a length and chunks', one(['content-length: 4', 'transfer-encoding: chunked'], `0\r\n\r\n${inside}`)],
    ['chunks and a length', one(['transfer-encoding: chunked', 'content-length: 4'], `0\r\n\r\n${inside}`)],
    ['chunks that are not the last coding', one(['transfer-encoding: chunked, identity'], `0\r\n\r\n${inside}`)],
    ['chunks under another name', one(['transfer-encoding: xchunked'], `0\r\n\r\n${inside}`)],
    ['a negative length', one(['content-length: -1'], inside)],
    ['a length with a sign', one(['content-length: +2'], `{}${inside}`)],
    ['a length that is not a number', one(['content-length: 0x2'], `{}${inside}`)],
    ['a length too large for any number', one(['content-length: 99999999999999999999'], `{}${inside}`)],
    ['a space before the colon', one(['content-length : 2'], `{}${inside}`)],
    ['a header that spans two lines', one(['x-one: a', ' content-length: 2', 'content-length: 2'], `{}${inside}`)],
    ['a line that ends with only a CR', one(['x-one: a\rcontent-length: 2'], `{}${inside}`)],
    ['a NUL in a header', one(['x-one: a\0b', 'content-length: 2'], `{}${inside}`)],
    ['a chunk size too large for any number', one(['transfer-encoding: chunked'], `fffffffffffffffff\r\n{}${inside}`)],
    ['a chunk of negative size', one(['transfer-encoding: chunked'], `-2\r\n{}\r\n0\r\n\r\n${inside}`)],
    ['a chunk that is longer than its size', one(['transfer-encoding: chunked'], `2\r\n{}{}\r\n0\r\n\r\n${inside}`)],
  ])('is refused, and nothing after it is read, if it has %s', async (_, bytes) => {
    const before = stored()
    const statuses = await answered(bytes)
    expect(statuses.at(-1)).toBeGreaterThanOrEqual(400)
    expect(statuses).not.toContain(202)
    expect(statuses).not.toContain(200)
    expect(stored()).toBe(before)
  })

  it('whose body is longer than its length is read only up to that length', async () => {
    const before = stored()
    const tooShort = request(fresh(), { 'content-length': '2' })
    expect((await answered(tooShort))[0]).toBe(400)
    expect(stored()).toBe(before)
  })
})

describe('an unusual delivery', () => {
  it.each([
    ['without a host', `POST ${PATH} HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}`, [400]],
    ['with an unknown method', `PUSH ${PATH} HTTP/1.1\r\nhost: x\r\n\r\n`, [400]],
    ['in HTTP 2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['in HTTP 0.9', `GET ${PATH}\r\n\r\n`, [400]],
    ['in TLS', Buffer.from('16030100a5010000a10303', 'hex'), [400]],
    ['with an unknown expectation', request('{}', { expect: 'miracle' }), [417]],
    ['with a CONNECT request', `CONNECT ${PATH} HTTP/1.1\r\nhost: x\r\n\r\n`, []],
  ])('is refused: %s', async (_, bytes, statuses) => {
    const received = await answered(bytes)
    expect(received.slice(0, 1)).toEqual(statuses)
    expect((await send(bot.url, fresh())).status).toBe(202)
  })

  it.each([
    [
      'with another host in its address',
      () => request(fresh(), {}, { path: `http://evil.example${PATH}` }),
      [202, 200],
    ],
    ['with an Upgrade header', () => request(fresh(), { connection: 'upgrade', upgrade: 'h2c' }), [202]],
    ['that expects 100-continue', () => request(fresh(), { expect: '100-continue' }), [202, 200]],
    ['with trailers', () => `${headOf(chunked)}${chunk(fresh())}0\r\nx-secret: y\r\n\r\n`, [202, 200]],
    ['in chunks of one byte', () => `${headOf(chunked)}${fresh().split('').map(chunk).join('')}0\r\n\r\n`, [202, 200]],
    ['with names of prototype fields', () => request(withPrototypes()), [202, 200]],
    [`with ${HEADERS_MAX} headers`, () => request(fresh(), headers(HEADERS_MAX - 3)), [202, 200]],
  ])('is accepted: %s', async (_, bytes, statuses) => {
    const before = stored()
    expect(await answered(bytes())).toEqual(statuses)
    expect(stored()).toBe(before + 1)
  })

  it('is ingested over HTTP 1.0, even without a host', async () => {
    const before = stored()
    const bytes = request(fresh(), {}, { version: '1.0' }).replace('host: x\r\n', '')
    expect(statusesIn(await answerTo(bot.url, bytes))).toEqual([202])
    expect(stored()).toBe(before + 1)
  })

  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
  const headers = (count: number, from = 0): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (__, n) => [`x-${from + n}`, 'y']))
  const withPrototypes = () =>
    fresh().replace('{"build":{', '{"__proto__":{"a":1},"constructor":{"prototype":{}},"build":{"__proto__":{"b":1},')

  it(`is refused with one header more than ${HEADERS_MAX}, so that no header is silently dropped`, async () => {
    expect(await answered(request(fresh(), headers(HEADERS_MAX - 2)))).toEqual([431])
    expect(await answered(request(fresh(), headers(2_600)).replaceAll('x-', ''))).toEqual([431])
  })

  it(`is refused with a head of more than ${HEAD_BYTES_MAX} bytes`, async () => {
    const filler = 'x'.repeat(HEAD_BYTES_MAX)
    expect(await answered(request(fresh(), { 'x-filler': filler.slice(1_000) }))).toEqual([202, 200])
    expect(await answered(request(fresh(), { 'x-filler': filler }))).toEqual([431])
    expect(await answered(request(fresh(), {}, { path: `/webhooks/builds/${filler}` }))).toEqual([431])
  })
})

describe('a large delivery', () => {
  const megabytes = (count: number): string => 'x'.repeat(count * 1024 * 1024)

  it('of 5 MB is answered 413 if its secret is right, and 404 if it is wrong', async () => {
    expect((await send(bot.url, megabytes(5))).status).toBe(413)
    expect((await send(bot.url, megabytes(5), { path: '/webhooks/builds/wrong' })).status).toBe(404)
  })

  it('that unpacks to twenty megabytes is answered 415, and nothing is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024))
    for (const encoding of ['gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'identity, gzip'])
      expect((await send(bot.url, bomb, { headers: { 'content-encoding': encoding } })).status, encoding).toBe(415)
  })

  it('of 100,000 nested lists is answered 400', async () => {
    expect((await send(bot.url, '['.repeat(100_000))).status).toBe(400)
    expect((await send(bot.url, `{"build":${'{"a":'.repeat(30_000)}1${'}'.repeat(30_001)}`)).status).toBe(400)
  })

  it(`of exactly ${DELIVERY_BYTES_MAX} bytes, most of them white space, is accepted, and one byte more is refused`, async () => {
    const text = fresh()
    expect((await send(bot.url, text.padEnd(DELIVERY_BYTES_MAX))).status).toBe(202)
    expect((await send(bot.url, fresh().padEnd(DELIVERY_BYTES_MAX + 1))).status).toBe(413)
  })
})

it('many wrong secrets at once, at all webhooks together, are answered 404 and then 429, do not affect right ones and are not logged', async () => {
  const pathOf = (n: number) => `/webhooks/${n % 2 === 0 ? 'builds' : 'reports'}/wrong-${n}`
  const requests = Array.from({ length: 200 }, (_, n) => request('{}', {}, { path: pathOf(n) }))
  const logged = bot.output().length
  const statuses = (await Promise.all(requests.map((one) => answered(one)))).flat()
  expect(statuses.filter((status) => status !== 404 && status !== 429)).toEqual([])
  expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(WRONG_MAX)
  expect(statuses).toHaveLength(requests.length)
  expect((await send(bot.url, fresh())).status).toBe(202)
  await until('the log has come as far as that', () => bot.output().includes(`"build":"${build}"`))
  expect(bot.output().slice(logged)).not.toMatch(/wrong|secret/)
})
