import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { delivery, send, WEBHOOK_SECRET } from '../../support/app.ts'
import { head, openWire, statuses } from '../../support/wire.ts'
import { CANARY, deliveriesIn, buildEventsIn, openDoor, traces } from './bot.ts'

const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
const BODY_BYTES_MAX = 256 * 1024

/** A delivery with exactly this number of bytes. */
function bodyOfBytes(bytes: number): string {
  const empty = JSON.stringify(delivery({ message: CANARY, filler: '' }))
  return JSON.stringify(delivery({ message: CANARY, filler: 'x'.repeat(bytes - empty.length) }))
}

describe('the endpoint', () => {
  it('answers 202 "recorded" to a first delivery, and stores its body unchanged', async () => {
    const door = await openDoor()
    const body = JSON.stringify(delivery({ status: 'initiated' }))
    const answer = await send(door.url, body)
    expect([answer.status, answer.text]).toEqual([202, '{"status":"recorded"}'])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(deliveriesIn(door)).toMatchObject([{ answer: 'recorded', body }])
    expect(buildEventsIn(door)).toMatchObject([{ project_id: '11', build_id: '512', word: 'initiated', repeats: 0 }])
  })

  it('answers 202 "duplicate" to a repeated delivery, counts it, and stores no second build event and body', async () => {
    const door = await openDoor()
    const answers = [
      await send(door.url, delivery()),
      await send(door.url, delivery()),
      await send(door.url, delivery()),
    ]
    expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual([
      '202 {"status":"recorded"}',
      '202 {"status":"duplicate"}',
      '202 {"status":"duplicate"}',
    ])
    expect(deliveriesIn(door)).toHaveLength(1)
    expect(buildEventsIn(door)).toMatchObject([{ repeats: 2 }])
  })

  it('stores a delivery only once if it arrives many times at once', async () => {
    const door = await openDoor()
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(door.url, delivery())))
    expect(answers.filter(({ text }) => text.includes('recorded'))).toHaveLength(1)
    expect(answers.every(({ status }) => status === 202)).toBe(true)
    expect(buildEventsIn(door)).toMatchObject([{ repeats: 19 }])
  })

  it('does not take the next status of the same build for a duplicate', async () => {
    const door = await openDoor()
    await send(door.url, delivery())
    expect((await send(door.url, delivery({ status: 'error' }))).text).toBe('{"status":"recorded"}')
    expect(buildEventsIn(door)).toHaveLength(2)
  })

  it('also takes a repeated late delivery for a duplicate, and makes no third build event of it', async () => {
    const door = await openDoor()
    const answers = []
    for (const status of ['error', 'initiated', 'initiated'])
      answers.push((await send(door.url, delivery({ status }))).text)
    expect(answers.map((text) => (JSON.parse(text) as { status: string }).status)).toEqual([
      'recorded',
      'recorded',
      'duplicate',
    ])
    expect(buildEventsIn(door)).toHaveLength(2)
  })

  it('records an undocumented status, and answers 202', async () => {
    const door = await openDoor()
    const answer = await send(door.url, delivery({ status: 'quarantined' }))
    expect([answer.status, answer.text]).toEqual([202, '{"status":"recorded"}'])
    expect(buildEventsIn(door)).toMatchObject([{ word: 'quarantined' }])
  })

  it('accepts ids as digit strings, a missing content type, a charset, a +json type and a byte order mark', async () => {
    const door = await openDoor()
    const answers = [
      await send(door.url, delivery({ project_id: '11', build_id: '1' })),
      await send(door.url, delivery({ build_id: 2 }), { headers: { 'content-type': '' } }),
      await send(door.url, delivery({ build_id: 3 }), {
        headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      }),
      await send(door.url, delivery({ build_id: 4 }), { headers: { 'content-type': 'application/vnd.ci+json' } }),
      await send(door.url, `\uFEFF${JSON.stringify(delivery({ build_id: 5 }))}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
    expect(buildEventsIn(door).map((buildEvent) => buildEvent['build_id'])).toEqual(['1', '2', '3', '4', '5'])
  })

  it('accepts a build of which only the ids and the status are known', async () => {
    const door = await openDoor()
    const bare = { build: { project_id: 11, build_id: 512, status: 'error' } }
    const nulls = { build: { ...bare.build, build_id: 513, branch: null, message: null, committer: 7, commit_url: {} } }
    expect((await send(door.url, bare)).status).toBe(202)
    expect((await send(door.url, nulls)).status).toBe(202)
  })
})

describe('for a delivery without a clear meaning the endpoint', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const refused: [why: string, body: string, reason: RegExp][] = [
    ['an empty body', '', /not JSON/],
    ['other text', `{"build": ${CANARY}`, /not JSON/],
    ['half a JSON text', `{"build":{"message":"${CANARY}"`, /not JSON/],
    ['a list', `["${CANARY}"]`, /no object "build"/],
    ['null', 'null', /no object "build"/],
    ['a number', '512', /no object "build"/],
    ['a string', `"${CANARY}"`, /no object "build"/],
    ['an object without a build', `{"message":"${CANARY}"}`, /no object "build"/],
    ['a build that is a list', `{"build":["${CANARY}"]}`, /no object "build"/],
    ['a build that is null', `{"build":null,"x":"${CANARY}"}`, /no object "build"/],
    ['a build without ids', JSON.stringify({ build: { status: 'error', message: CANARY } }), /project_id/],
    ['a build without a status', JSON.stringify({ build: { project_id: 1, build_id: 2, message: CANARY } }), /status/],
    ['a blank status', JSON.stringify(delivery({ status: '  ', message: CANARY })), /status/],
    ['a status that is a number', JSON.stringify(delivery({ status: 5, message: CANARY })), /status/],
    ['100,000 nested lists', nested(100_000), /too deep/],
    ['100,000 nested lists in a field', `{"build":{"x":${nested(100_000)},"message":"${CANARY}"}}`, /too deep/],
    ['100,000 nested lists that never end', '['.repeat(100_000), /too deep|not JSON/],
    ['10,000 nested objects', `${'{"a":'.repeat(10_000)}"${CANARY}"${'}'.repeat(10_000)}`, /too deep/],
  ]

  it.each(refused)('answers 400 with the reason to %s, stores nothing, and still works', async (_, body, reason) => {
    const door = await openDoor()
    const answer = await send(door.url, body)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 'refused',
      reason: expect.stringMatching(reason) as string,
    })
    expect(answer.text).not.toContain(CANARY)
    expect(traces(door)).toEqual([])
    expect((await send(door.url, delivery())).status).toBe(202)
  })

  it('answers 400 if its bytes are not UTF-8', async () => {
    const door = await openDoor()
    const answer = await send(
      door.url,
      Buffer.concat([Buffer.from(`{"${CANARY}":"`), Buffer.from([0xff, 0xfe, 0x22, 0x7d])]),
    )
    expect(answer.status).toBe(400)
    expect(traces(door)).toEqual([])
  })

  it('but accepts a body that is nested up to the limit', async () => {
    const door = await openDoor()
    expect(
      (await send(door.url, `{"build":{"x":${nested(60)},"project_id":1,"build_id":2,"status":"error"}}`)).status,
    ).toBe(202)
  })

  it.each(['é', '日本', '🚀"\\'])('but accepts a message of brackets and %s, which nest nothing', async (other) => {
    const door = await openDoor()
    const message = `${other}[{`.repeat(200)
    expect((await send(door.url, JSON.stringify(delivery({ message })))).status).toBe(202)
  })
})

describe('for each size, type and method the endpoint', () => {
  it('accepts exactly 256 KiB', async () => {
    const door = await openDoor()
    const body = bodyOfBytes(BODY_BYTES_MAX)
    expect(Buffer.byteLength(body)).toBe(BODY_BYTES_MAX)
    expect((await send(door.url, body)).status).toBe(202)
    expect(deliveriesIn(door)).toMatchObject([{ body }])
  })

  it('answers 413 to one byte more, as soon as the length is announced and before any of it is sent', async () => {
    const door = await openDoor()
    const wire = openWire(door.url)
    wire.write(head(PATH, { 'content-type': 'application/json', 'content-length': BODY_BYTES_MAX + 1 }))
    await wire.closed
    expect(statuses(wire)).toEqual([413])
    expect(traces(door)).toEqual([])
  })

  it('answers 413 to one byte more that arrives in chunks without an announced length', async () => {
    const door = await openDoor()
    const wire = openWire(door.url)
    wire.write(head(PATH, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }))
    const body = bodyOfBytes(BODY_BYTES_MAX + 1)
    for (let at = 0; at < body.length; at += 32_768) {
      const chunk = body.slice(at, at + 32_768)
      wire.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    }
    await wire.closed
    expect(statuses(wire)).toEqual([413])
    expect(traces(door)).toEqual([])
  })

  it('accepts exactly 256 KiB that arrive in chunks', async () => {
    const door = await openDoor()
    const wire = openWire(door.url)
    wire.write(head(PATH, { 'content-type': 'application/json', 'transfer-encoding': 'chunked', connection: 'close' }))
    const body = bodyOfBytes(BODY_BYTES_MAX)
    wire.write(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    await wire.closed
    expect(statuses(wire)).toEqual([202])
  })

  it('lets a sender read the 413 even if it sends all of a body before it reads', async () => {
    const door = await openDoor()
    const answer = await send(door.url, bodyOfBytes(4 * 1024 * 1024))
    expect(answer.status).toBe(413)
    expect(traces(door)).toEqual([])
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/jsonp'])(
    'answers 415 to %s',
    async (type) => {
      const door = await openDoor()
      const answer = await send(door.url, delivery({ message: CANARY }), { headers: { 'content-type': type } })
      expect(answer.status).toBe(415)
      expect(traces(door)).toEqual([])
    },
  )

  it('answers 415 to a compressed body, whatever its unpacked content', async () => {
    const door = await openDoor()
    const packed = gzipSync(JSON.stringify(delivery({ message: CANARY })))
    expect((await send(door.url, packed, { headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
    expect((await send(door.url, delivery(), { headers: { 'content-encoding': 'identity' } })).status).toBe(202)
  })

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('answers 405 to %s and allows POST', async (method) => {
    const door = await openDoor()
    const answer = await send(door.url, delivery({ message: CANARY }), { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    expect(traces(door)).toEqual([])
  })

  it('counts every answer by its status, without any text from the body', async () => {
    const door = await openDoor()
    await send(door.url, delivery())
    await send(door.url, delivery())
    await send(door.url, CANARY)
    await send(door.url, delivery(), { path: '/webhooks/builds/wrong' })
    const metrics = await (await fetch(`${door.url}/metrics`)).text()
    expect(metrics).toContain('buildline_deliveries_total{status="202",answer="recorded",what="delivery"} 1')
    expect(metrics).toContain('buildline_deliveries_total{status="202",answer="duplicate",what="delivery"} 1')
    expect(metrics).toContain('buildline_deliveries_total{status="400",answer="refused",what="delivery"} 1')
    expect(metrics).toContain('buildline_deliveries_total{status="404",answer="refused",what="delivery"} 1')
    expect(metrics).not.toContain(CANARY)
  })
})
