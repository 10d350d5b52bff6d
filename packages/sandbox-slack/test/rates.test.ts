import { describe, expect, test } from 'vitest'
import { CHANNELS } from '../src/workspace.ts'
import { bodyOf, BUILDS, openStage } from './stage.ts'

const post = (channel: string) => ['chat.postMessage', { channel, text: 'a' }] as const

describe('chat.postMessage', () => {
  test('without a burst, accepts a second post after 1,000 ms, and not after 999', async () => {
    const { send, clock, sandbox } = await openStage({ rates: { postBurst: 1 } })
    expect((await send(...post(BUILDS))).status).toBe(200)
    clock.advance(999)
    const early = await send(...post(BUILDS))
    expect([early.status, early.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await bodyOf(early)).toEqual({ ok: false, error: 'ratelimited' })
    clock.advance(1)
    expect((await send(...post(BUILDS))).status).toBe(200)
    expect(sandbox.counters.ratelimited()).toBe(1)
    expect(sandbox.counters.calls('chat.postMessage', 'ok')).toBe(2)
    expect(sandbox.counters.calls('chat.postMessage', 'ratelimited')).toBe(1)
  })

  test('counts each channel separately', async () => {
    const { send } = await openStage({ rates: { postBurst: 1 } })
    expect((await send(...post(BUILDS))).status).toBe(200)
    expect((await send(...post(CHANNELS.web))).status).toBe(200)
  })

  test('accepts three at once, and then one a second', async () => {
    const { send, clock } = await openStage({ rates: {} })
    const statuses = []
    for (let count = 0; count < 4; count += 1) statuses.push((await send(...post(BUILDS))).status)
    expect(statuses).toEqual([200, 200, 200, 429])
    clock.advance(1_000)
    expect([(await send(...post(BUILDS))).status, (await send(...post(BUILDS))).status]).toEqual([200, 429])
  })

  test('divides its times by timeScale', async () => {
    const { send, clock } = await openStage({ rates: { timeScale: 10, postBurst: 1 } })
    await send(...post(BUILDS))
    clock.advance(99)
    expect((await send(...post(BUILDS))).status).toBe(429)
    clock.advance(1)
    expect((await send(...post(BUILDS))).status).toBe(200)
  })
})

describe.each([
  ['chat.update', { channel: BUILDS, ts: '1.1', text: 'a' }, 50],
  ['conversations.history', { channel: BUILDS }, 50],
  ['conversations.replies', { channel: BUILDS, ts: '1.1' }, 50],
  ['users.lookupByEmail', { email: 'ada@acme.example' }, 50],
  ['users.info', { user: 'U0ADA00001' }, 100],
])('%s', (method, args, max) => {
  test(`accepts ${max} calls in any 60 s and no more`, async () => {
    const { send, clock } = await openStage({ rates: {} })
    expect((await send(method, args)).status).toBe(200)
    clock.advance(20_500)
    for (let count = 1; count < max; count += 1) expect((await send(method, args)).status).toBe(200)
    const over = await send(method, args)
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, '40'])
    clock.advance(39_499)
    expect((await send(method, args)).status).toBe(429)
    clock.advance(1)
    expect((await send(method, args)).status).toBe(200)
    expect((await send(method, args)).status).toBe(429)
  })
})

test('the rate limit of edits is for the workspace, not for each channel', async () => {
  const { send } = await openStage({ rates: {} })
  const update = (channel: string) => send('chat.update', { channel, ts: '1.1', text: 'a' })
  for (let count = 0; count < 50; count += 1) await update(count % 2 === 0 ? BUILDS : CHANNELS.web)
  expect((await update(CHANNELS.ops)).status).toBe(429)
})

test('a call with a wrong token does not count', async () => {
  const { sandbox, send } = await openStage({ rates: { postBurst: 1 } })
  const init = { method: 'POST', body: new URLSearchParams({ token: 'xoxb-other', channel: BUILDS, text: 'a' }) }
  expect((await bodyOf(await fetch(`${sandbox.apiUrl}chat.postMessage`, init))).error).toBe('invalid_auth')
  expect((await send(...post(BUILDS))).status).toBe(200)
})
