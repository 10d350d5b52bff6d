import { describe, expect, it } from 'vitest'
import { SOURCE_TEXT_CHARS_MAX } from '../../../src/sources/values.ts'
import { delivery, send } from '../../support/app.ts'
import { openWire, statuses } from '../../support/wire.ts'
import type { Door } from './bot.ts'
import { CANARY, deliveriesIn, buildEventsIn, openDoor, traces } from './bot.ts'

/** A body with ids exactly as given in the text, not as a program would write them. */
const withIds = (projectId: string, buildId: string): string =>
  `{"build":{"project_id":${projectId},"build_id":${buildId},"status":"error","message":"${CANARY}"}}`

const idsIn = (door: Door) =>
  buildEventsIn(door).map((buildEvent) => `${String(buildEvent['project_id'])}/${String(buildEvent['build_id'])}`)
const detailsIn = (door: Door) =>
  buildEventsIn(door).map((buildEvent) => JSON.parse(String(buildEvent['details'])) as Record<string, unknown>)

describe('an id', () => {
  it.each([
    ['9007199254740993', '18446744073709551615'],
    ['"9007199254740993"', '"9223372036854775807"'],
    ['0', '1'],
    ['99999999999999999999', '99999999999999999999'],
  ])('such as %s or %s is kept digit by digit', async (projectId, buildId) => {
    const door = await openDoor()
    expect((await send(door.url, withIds(projectId, buildId))).status).toBe(202)
    expect(idsIn(door)).toEqual([`${projectId}/${buildId}`.replaceAll('"', '')])
  })

  it('beyond 2^53 makes two builds if it differs only in the last digit', async () => {
    const door = await openDoor()
    await send(door.url, withIds('1', '9007199254740992'))
    const next = await send(door.url, withIds('1', '9007199254740993'))
    expect(next.text).toBe('{"status":"recorded"}')
    expect(idsIn(door)).toEqual(['1/9007199254740992', '1/9007199254740993'])
  })

  it.each([
    '1e21',
    '1e400',
    '-1',
    '-0.5',
    '1.5',
    '"-1"',
    '"1.0"',
    '"0x10"',
    '" 12"',
    '"12 "',
    '""',
    '"١٢"',
    '"012"',
    'true',
    'null',
    '[]',
    '[512]',
    '{}',
    '"__proto__"',
    `"${'9'.repeat(21)}"`,
    '9'.repeat(21),
  ])('may not be %s, which gets 400 and stores nothing', async (id) => {
    const door = await openDoor()
    for (const body of [withIds(id, '512'), withIds('11', id)]) expect((await send(door.url, body)).status).toBe(400)
    expect(traces(door)).toEqual([])
  })

  it('may not have 100,000 digits', async () => {
    const door = await openDoor()
    expect((await send(door.url, withIds('11', '9'.repeat(100_000)))).status).toBe(400)
    expect(traces(door)).toEqual([])
  })

  // A number that the parser must round is not a clear id, because two different builds would become one.
  it.each(['9007199254740993.0', '9.007199254740993e15', '90071992547409930e-1'])(
    '%s, which a double cannot hold, is not rounded to a neighbour',
    async (id) => {
      const door = await openDoor()
      await send(door.url, withIds('11', id))
      expect(idsIn(door)).not.toContain('11/9007199254740992')
    },
  )
})

describe('names that JavaScript objects know', () => {
  it('are ordinary fields, and never give objects properties that were not sent', async () => {
    const door = await openDoor()
    const inPrototype = `{"build":{"__proto__":{"project_id":1,"build_id":2,"status":"error"}}}`
    const aboveBuild = `{"__proto__":{"build":{"project_id":1,"build_id":2,"status":"error"}}}`
    const constructed = `{"build":{"constructor":{"prototype":{"project_id":1}},"build_id":2,"status":"error"}}`
    for (const body of [inPrototype, aboveBuild, constructed]) expect((await send(door.url, body)).status).toBe(400)
    expect(traces(door)).toEqual([])
    expect(({} as Record<string, unknown>)['project_id']).toBeUndefined()
  })

  it('do no harm beside a valid build', async () => {
    const door = await openDoor()
    const body = `{"build":{"project_id":1,"build_id":2,"status":"__proto__","branch":"constructor","committer":"toString",
      "__proto__":{"status":"success","message":"${CANARY}"},"hasOwnProperty":1}}`
    expect((await send(door.url, body)).status).toBe(202)
    expect(buildEventsIn(door)).toMatchObject([{ word: '__proto__', branch: 'constructor' }])
    expect(detailsIn(door)).toMatchObject([{ committer: 'toString', message: null }])
  })
})

describe('text from strangers', () => {
  it('of 100 KB is stored whole in the delivery, and its first line, cut to the limit, in the build event', async () => {
    const door = await openDoor()
    const body = JSON.stringify(delivery({ message: `${'long '.repeat(20_000)}\n${CANARY}` }))
    expect((await send(door.url, body)).status).toBe(202)
    expect(deliveriesIn(door)).toMatchObject([{ body }])
    const [details] = detailsIn(door)
    expect(details!['message']).toMatch(/^long long/)
    expect(String(details!['message']).length).toBeLessThanOrEqual(SOURCE_TEXT_CHARS_MAX)
  })

  it('with lone surrogates, NUL and direction marks is accepted, and is valid text afterwards', async () => {
    const door = await openDoor()
    const body = `{"build":{"project_id":1,"build_id":2,"status":"er\\u0000ror","branch":"a\\ud800b","committer":"\\u0000Ada",
      "message":"\\u202egnp.exe\\udc00"}}`
    expect((await send(door.url, body)).status).toBe(202)
    const [buildEvent] = buildEventsIn(door)
    const [details] = detailsIn(door)
    const texts = [buildEvent!['word'], buildEvent!['branch'], details!['committer'], details!['message']].map(String)
    expect(texts.every((text) => text.isWellFormed() && !text.includes('\0'))).toBe(true)
    expect(texts[2]).toBe('Ada')
  })

  it('is not a status if it is only NUL', async () => {
    const door = await openDoor()
    expect((await send(door.url, `{"build":{"project_id":1,"build_id":2,"status":"\\u0000"}}`)).status).toBe(400)
  })

  it('is never repeated in an answer and never in a log line', async () => {
    const door = await openDoor({ LOG_LEVEL: 'trace' })
    const answers = [
      await send(door.url, delivery({ message: CANARY, branch: CANARY, committer: CANARY, build_url: CANARY })),
      await send(door.url, delivery({ project_id: CANARY })),
      await send(door.url, `{"${CANARY}`),
    ]
    expect(answers.map(({ text }) => text).join('')).not.toContain(CANARY)
    expect(door.app.lines.join('')).not.toContain(CANARY)
  })

  it('may be a status of the longest text, and is refused if it is longer', async () => {
    const door = await openDoor()
    expect((await send(door.url, delivery({ status: 'x'.repeat(SOURCE_TEXT_CHARS_MAX) }))).status).toBe(202)
    expect((await send(door.url, delivery({ status: 'x'.repeat(SOURCE_TEXT_CHARS_MAX + 1) }))).status).toBe(400)
  })
})

describe('unknown addresses', () => {
  const statusOf = async (path: string): Promise<number[]> => {
    const wire = openWire((await openDoor()).url)
    wire.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
    await wire.closed
    return statuses(wire)
  }

  it.each(['/webhooks/builds/%', '/webhooks/builds/a/b', '/webhooks', '/%2e%2e/etc/passwd', '/slack/nothing'])(
    'are answered 404: %s',
    async (path) => {
      expect(await statusOf(path)).toEqual([404])
    },
  )

  // An unknown address from a stranger is not our fault: it gets no 500, and no line in the error log.
  it.each(['//', '//['])('are answered 404, not 500: %s', async (path) => {
    expect(await statusOf(path)).toEqual([404])
  })
})
