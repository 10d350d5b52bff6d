import { describe, expect, it } from 'vitest'
import { buildOf, delivery, send, until, WEBHOOK_SECRET } from '../../support/app.ts'
import { head, openWire, statuses } from '../../support/wire.ts'
import { CANARY, deliveriesIn, buildEventsIn, openDoor, traces } from './bot.ts'

const PATH = `/webhooks/builds/${WEBHOOK_SECRET}`
const JSON_TYPE = { 'content-type': 'application/json' }
const HELD_MAX_MS = 30_000
const NO_DIGEST = '0'.repeat(64)

function requestOf(body: object, path = PATH): string {
  const text = JSON.stringify(body)
  return head(path, { ...JSON_TYPE, 'content-length': Buffer.byteLength(text) }) + text
}

describe('a connection', () => {
  it('that carries many deliveries at once gets every answer, in order', async () => {
    const door = await openDoor()
    const wire = openWire(door.url)
    const builds = [1, 2, 3, 4, 5]
    wire.write(builds.map((n) => requestOf(delivery(buildOf(n)))).join(''))
    await until('five answers', () => statuses(wire).length === builds.length)
    expect(statuses(wire)).toEqual([202, 202, 202, 202, 202])
    expect(new Set(buildEventsIn(door).map((buildEvent) => buildEvent['build_id']))).toEqual(
      new Set(['1', '2', '3', '4', '5']),
    )
    wire.write(requestOf({ nothing: CANARY }) + requestOf(delivery(buildOf(6))))
    await until('two more', () => statuses(wire).length === builds.length + 2)
    expect(statuses(wire).slice(-2)).toEqual([400, 202])
  })

  it('with a refused body that was not read does not take the rest of it for the next request', async () => {
    const door = await openDoor()
    const wire = openWire(door.url)
    const smuggled = requestOf(delivery({ message: CANARY }))
    wire.write(head(PATH, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(smuggled) }) + smuggled)
    await until('an answer', () => statuses(wire).length > 0)
    wire.write(requestOf(delivery(buildOf(2))))
    await until('the next answer, or the end', () => statuses(wire).length > 1 || !wire.isOpen())
    expect(statuses(wire)[0]).toBe(415)
    expect(buildEventsIn(door).map((buildEvent) => buildEvent['build_id'])).not.toContain('512')
  })

  it('with two different lengths is refused', async () => {
    const door = await openDoor()
    const wire = openWire(door.url)
    wire.write(head(PATH, { ...JSON_TYPE, 'content-length': 5, 'transfer-encoding': 'chunked' }) + '0\r\n\r\n')
    await wire.closed
    expect(statuses(wire)).toEqual([400])
    expect(traces(door)).toEqual([])
  })

  it('that breaks off in the middle of a body leaves nothing behind', async () => {
    const door = await openDoor()
    const text = JSON.stringify(delivery({ message: CANARY }))
    for (const cutAt of [0, 1, text.length - 1]) {
      const wire = openWire(door.url)
      wire.write(head(PATH, { ...JSON_TYPE, 'content-length': text.length }) + text.slice(0, cutAt))
      await send(door.url, 'a request that is answered after the half one has arrived')
      wire.cut()
      await wire.closed
    }
    expect((await send(door.url, delivery(buildOf(9)))).status).toBe(202)
    expect(buildEventsIn(door).map((buildEvent) => buildEvent['build_id'])).toEqual(['9'])
    expect(deliveriesIn(door)).toHaveLength(1)
  })

  it('that breaks off right after the body still counts, because a complete delivery is stored', async () => {
    const door = await openDoor()
    const wire = openWire(door.url)
    wire.write(requestOf(delivery()))
    await until('the fact is in the file', () => buildEventsIn(door).length === 1)
    wire.cut()
    expect((await send(door.url, delivery())).text).toBe('{"status":"duplicate"}')
  })

  it.each([
    ['one header of 64 KB', { 'x-filler': 'x'.repeat(65_536) }],
    ['5,000 headers', Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`x-${n}`, 'xxxx']))],
  ])('with %s is refused, and the next one is served', async (_, headers) => {
    const door = await openDoor()
    const wire = openWire(door.url)
    wire.write(head(PATH, { ...JSON_TYPE, ...headers, 'content-length': 2 }) + '{}')
    await wire.closed
    expect(statuses(wire)).toEqual([431])
    expect((await send(door.url, delivery())).status).toBe(202)
  })

  it(
    'with nothing, half a head or half a body is closed within 30 s, and delays nobody',
    { timeout: 45_000 },
    async () => {
      const door = await openDoor()
      const sinceMs = Date.now()
      const wires = [openWire(door.url), openWire(door.url), openWire(door.url)] as const
      const [mute, slack] = [openWire(door.url), openWire(door.url)]
      const forged = {
        'x-slack-request-timestamp': Math.floor(sinceMs / 1_000),
        'x-slack-signature': `v0=${NO_DIGEST}`,
      }
      slack.write(head('/slack/events', { ...JSON_TYPE, ...forged, 'content-length': 200_000 }))
      wires[0].write(`POST ${PATH} HTTP/1.1\r\nhost: x\r\n`)
      wires[1].write(head(PATH, { ...JSON_TYPE, 'content-length': 200_000 }))
      wires[2].write(head('/webhooks/builds/wrong', { ...JSON_TYPE, 'content-length': 200_000 }))
      const dripping = setInterval(() => {
        if (wires[0].isOpen()) wires[0].write(`x-${Date.now()}: y\r\n`)
        if (wires[1].isOpen()) wires[1].write(' ')
        if (slack.isOpen()) slack.write(' ')
      }, 200)
      expect((await send(door.url, delivery())).status).toBe(202)
      await Promise.all([...wires, mute, slack].map(({ closed }) => closed))
      clearInterval(dripping)
      expect(Date.now() - sinceMs).toBeLessThan(HELD_MAX_MS)
      expect([...wires, slack, mute].map(statuses)).toEqual([[408], [408], [404], [408], [408]])
      expect(buildEventsIn(door)).toHaveLength(1)
    },
  )

  it('among hundreds of half-started ones does not block a delivery', async () => {
    const door = await openDoor()
    const half = Array.from({ length: 300 }, () => openWire(door.url))
    for (const wire of half) wire.write(head(PATH, { ...JSON_TYPE, 'content-length': 10 }))
    expect((await send(door.url, delivery())).status).toBe(202)
    for (const wire of half) wire.cut()
  })
})
