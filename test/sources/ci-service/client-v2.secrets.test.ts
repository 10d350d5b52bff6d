import { describe, expect, it } from 'vitest'
import type { Answer } from '../../support/app.ts'
import { buildOf, delivery, send, WEBHOOK_SECRET } from '../../support/app.ts'
import { CANARY, buildEventsIn, openDoor, traces } from './bot.ts'

const basic = (password: string, user = 'ci') => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
const BARE = '/webhooks/builds'

/** An answer without its date, in which any two answers differ. */
const shape = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => name !== 'date'),
})

describe('the secret', () => {
  it('opens the endpoint in the path, as the Basic password and as ?token=', async () => {
    const door = await openDoor()
    const answers = [
      await send(door.url, delivery(buildOf(1))),
      await send(door.url, delivery(buildOf(2)), { path: `${BARE}/${WEBHOOK_SECRET}/` }),
      await send(door.url, delivery(buildOf(3)), { path: BARE, headers: { authorization: basic(WEBHOOK_SECRET) } }),
      await send(door.url, delivery(buildOf(4)), { path: BARE, headers: { authorization: basic(WEBHOOK_SECRET, '') } }),
      await send(door.url, delivery(buildOf(5)), { path: `${BARE}?token=${WEBHOOK_SECRET}` }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
  })

  it('may contain characters that must be encoded in an address and in a password', async () => {
    const secret = 'a:b&c=d+e"f<g>h^i|j;k@l'
    const door = await openDoor({ WEBHOOK_SECRET: secret })
    const written = encodeURIComponent(secret)
    const answers = [
      await send(door.url, delivery(buildOf(1)), { path: `${BARE}/${written}` }),
      await send(door.url, delivery(buildOf(2)), { path: `${BARE}?token=${written}` }),
      await send(door.url, delivery(buildOf(3)), { path: BARE, headers: { authorization: basic(secret) } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
  })

  it('may be any of several valid secrets, and no other', async () => {
    const door = await openDoor({ WEBHOOK_SECRET: 'secret-of-yesterday, secret-of-today1 ,secret-of-tomorrow' })
    const statusOf = async (secret: string) => (await send(door.url, delivery(), { path: `${BARE}/${secret}` })).status
    expect(await statusOf('secret-of-yesterday')).toBe(202)
    expect(await statusOf('secret-of-today1')).toBe(202)
    expect(await statusOf('secret-of-tomorrow')).toBe(202)
    expect(await statusOf('secret-of-yesterday,secret-of-today1')).toBe(404)
    expect(await statusOf('secret-of-today')).toBe(404)
    expect(await statusOf('secret-of-today11')).toBe(404)
    expect(await statusOf('SECRET-OF-TODAY1')).toBe(404)
  })

  it('is answered 404 if it is wrong, wherever it is, always with the same text', async () => {
    const door = await openDoor()
    const wrong = [
      { path: `${BARE}/wrong` },
      { path: `${BARE}/${WEBHOOK_SECRET}x` },
      { path: `${BARE}/${'x'.repeat(4_000)}` },
      { path: `${BARE}/%E0%A4%A` },
      { path: `${BARE}/%00` },
      { path: BARE },
      { path: `${BARE}/` },
      { path: `${BARE}?token=wrong` },
      { path: `${BARE}?token=` },
      { path: BARE, headers: { authorization: basic('wrong') } },
      { path: BARE, headers: { authorization: basic(`x:${WEBHOOK_SECRET}`) } },
      { path: BARE, headers: { authorization: 'Basic !!!' } },
      { path: BARE, headers: { authorization: `Bearer ${WEBHOOK_SECRET}` } },
      { path: `${BARE}/wrong`, headers: { 'content-type': 'text/plain' } },
    ]
    const answers: Answer[] = []
    for (const sending of wrong) answers.push(await send(door.url, delivery({ message: CANARY }), sending))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
    expect(new Set(answers.map((answer) => JSON.stringify(shape(answer)))).size).toBe(1)
    expect(traces(door)).toEqual([])
  })

  it('as the Basic password is wrong with anything after it, even if a lenient decoder would drop that', async () => {
    const door = await openDoor()
    const statusOf = async (authorization: string) =>
      (await send(door.url, delivery(), { path: BARE, headers: { authorization } })).status
    for (const user of ['c', 'cc', 'ccc']) {
      const right = basic(WEBHOOK_SECRET, user)
      const bare = right.replace(/=+$/, '')
      expect([await statusOf(right), await statusOf(bare)]).toEqual([202, 202])
      const garbage = ['=garbage', '===', '=A', ...(right === bare ? ['A', '='] : [])]
      for (const more of garbage) expect([user, more, await statusOf(bare + more)]).toEqual([user, more, 404])
    }
  })

  it('is checked before the body, so a sender with a wrong one learns nothing of sizes, types and forms', async () => {
    const door = await openDoor()
    const path = `${BARE}/wrong`
    const answers = [
      await send(door.url, 'no JSON', { path }),
      await send(door.url, '', { path }),
      await send(door.url, 'x', { path, headers: { 'content-encoding': 'gzip' } }),
    ]
    expect(new Set(answers.map((answer) => JSON.stringify(shape(answer)))).size).toBe(1)
    expect(answers[0]!.status).toBe(404)
  })

  it('that is wrong in the path is wrong, even with a right one elsewhere', async () => {
    const door = await openDoor()
    const path = `${BARE}/wrong?token=${WEBHOOK_SECRET}`
    expect((await send(door.url, delivery(), { path })).status).toBe(404)
  })

  it('is in no log line, whether it is right or wrong', async () => {
    const door = await openDoor({ LOG_LEVEL: 'trace' })
    await send(door.url, delivery())
    await send(door.url, delivery(), { path: `${BARE}?token=${WEBHOOK_SECRET}` })
    await send(door.url, delivery(), { path: `${BARE}/almost-${WEBHOOK_SECRET}` })
    expect(door.app.lines.length).toBeGreaterThan(2)
    expect(door.app.lines.join('')).not.toContain(WEBHOOK_SECRET)
  })
})

describe('too many wrong secrets from one address', () => {
  const WRONG_MAX = 20
  const wrongly = (url: string) => send(url, delivery({ message: CANARY }), { path: `${BARE}/wrong` })

  it('are answered 429 with Retry-After, while right ones from the same address are still accepted', async () => {
    const door = await openDoor()
    const early: number[] = []
    for (let n = 0; n < WRONG_MAX; n++) early.push((await wrongly(door.url)).status)
    expect(new Set(early)).toEqual(new Set([404]))
    const late = await wrongly(door.url)
    expect(late.status).toBe(429)
    const waitS = Number(late.headers.get('retry-after'))
    expect(waitS).toBeGreaterThan(0)
    expect(waitS).toBeLessThanOrEqual(60)
    for (let n = 1; n <= 30; n++) expect((await send(door.url, delivery(buildOf(n)))).status).toBe(202)
    expect((await wrongly(door.url)).status).toBe(429)
    expect(buildEventsIn(door)).toHaveLength(30)
    expect(door.app.lines.join('')).not.toContain(CANARY)
  })

  it('do not include right ones: hundreds from one address are all accepted', async () => {
    const door = await openDoor()
    const answers = await Promise.all(Array.from({ length: 300 }, (_, n) => send(door.url, delivery(buildOf(n + 1)))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(buildEventsIn(door)).toHaveLength(300)
  })
})
