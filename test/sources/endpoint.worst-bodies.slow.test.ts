import { describe, expect, it } from 'vitest'
import { SHAPES, WEBHOOKS, worstBody, type Webhook } from '../support/worst-bodies.ts'

/** No delivery may hold the event loop for longer (ms): `JSON.parse` takes most of it. */
const HOLDS_MAX_MS = 500

const ROUNDS = 5

/** On a busy machine even the time on the processor grows: so many tries, of which one must be within the limit. */
const TRIES_MAX = 25

const OBJECTS = '{},{},…'

/** Time on the processor: the machine may be busy with other work (ms). */
function cpuMs(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** The shortest time of each, measured in turns. */
function shortest(...measured: readonly (() => unknown)[]): number[] {
  const rounds = Array.from({ length: ROUNDS }, () => measured.map(cpuMs))
  return measured.map((_, i) => Math.min(...rounds.map((times) => times[i]!)))
}

function readingOf({ endpoint, headers }: Webhook, body: string) {
  const [bytes, sent] = [Buffer.from(body), headers(body)]
  return () => endpoint.read(bytes, sent)
}

describe.each(WEBHOOKS.map((webhook) => [webhook.name, webhook] as const))('%s:', (_, webhook) => {
  const bytes = webhook.endpoint.bodyBytesMax.toLocaleString('en-US')

  it(`${bytes} bytes of "x":[${OBJECTS}] and one number of 17 digits take no longer than two and a half times JSON.parse`, () => {
    const body = worstBody(webhook, 'x', OBJECTS)
    const reading = readingOf(webhook, body)
    expect(reading().kind).toMatch(/^(?:delivery|report)$/)
    const [readMs = 0, parseMs = 0] = shortest(...Array.of(reading, () => JSON.parse(body)))
    // A reviver would take five to ten times as long.
    expect(readMs).toBeLessThan(Math.max(2.5 * parseMs, 8))
  })

  it.each(Object.keys(webhook.deliveries))('no body of this size with anything in %s holds the event loop', (field) => {
    const taken = Object.keys(SHAPES).map((shape) => {
      const reading = readingOf(webhook, worstBody(webhook, field, shape))
      let readMs = Number.POSITIVE_INFINITY
      for (let n = 0; n < TRIES_MAX && readMs > HOLDS_MAX_MS; n++) readMs = Math.min(readMs, cpuMs(reading))
      return { shape, readMs }
    })
    expect(taken.filter(({ readMs }) => readMs > HOLDS_MAX_MS)).toEqual([])
  })
})
