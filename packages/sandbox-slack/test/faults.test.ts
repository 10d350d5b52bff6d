import { describe, expect, test } from 'vitest'
import { createFaults } from '../src/faults.ts'
import { CHANNELS } from '../src/workspace.ts'
import { bodyOf, BUILDS, openStage, until } from './stage.ts'

const post = ['chat.postMessage', { channel: BUILDS, text: 'a' }] as const

describe('a requested fault', () => {
  test('ratelimited answers 429 with the requested Retry-After, and posts nothing', async () => {
    const { send, sandbox } = await openStage()
    sandbox.faults.add({ kind: 'ratelimited', retryAfterS: 7, times: 1 })
    const answer = await send(...post)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7'])
    expect(sandbox.messages(BUILDS)).toEqual([])
    expect(sandbox.counters.ratelimited()).toBe(1)
    expect((await send(...post)).status).toBe(200)
  })

  test('5xx answers with HTML instead of JSON, and posts nothing', async () => {
    const { send, sandbox } = await openStage()
    sandbox.faults.add({ kind: '5xx', status: 502 })
    const answer = await send(...post)
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('<html>')])
    expect(sandbox.messages(BUILDS)).toEqual([])
  })

  test('error answers with the requested error code', async () => {
    const { call, sandbox } = await openStage()
    sandbox.faults.add({ kind: 'error', error: 'account_inactive' })
    expect(await call(...post)).toEqual({ ok: false, error: 'account_inactive' })
  })

  test('slow posts at once and answers late', async () => {
    const { send, sandbox, clock } = await openStage()
    sandbox.faults.add({ kind: 'slow', ms: 5_000 })
    let isAnswered = false
    const answer = send(...post).then((response) => {
      isAnswered = true
      return response
    })
    await until(() => sandbox.messages(BUILDS).length === 1)
    expect(isAnswered).toBe(false)
    clock.advance(5_000)
    expect((await answer).status).toBe(200)
  })

  test('accept-then-drop posts and cuts the connection', async () => {
    const { send, sandbox } = await openStage()
    sandbox.faults.add({ kind: 'accept-then-drop' })
    await expect(send(...post)).rejects.toThrow('fetch failed')
    expect(sandbox.messages(BUILDS)).toHaveLength(1)
    expect(sandbox.counters.calls('chat.postMessage', 'fault:accept-then-drop')).toBe(1)
  })

  test('accept-then-5xx posts and answers 5xx', async () => {
    const { send, sandbox } = await openStage()
    sandbox.faults.add({ kind: 'accept-then-5xx' })
    expect((await send(...post)).status).toBe(503)
    expect(sandbox.messages(BUILDS)).toHaveLength(1)
  })

  test('accept-late cuts the connection, and posts later', async () => {
    const { send, sandbox, clock } = await openStage()
    sandbox.faults.add({ kind: 'accept-late', ms: 5_000, times: 1 })
    await expect(send(...post)).rejects.toThrow('fetch failed')
    expect(sandbox.messages(BUILDS)).toEqual([])
    clock.advance(5_000)
    await until(() => sandbox.messages(BUILDS).length === 1)
  })

  test('accept-late posts nothing once the sandbox has stopped', async () => {
    const { send, sandbox, clock } = await openStage()
    sandbox.faults.add({ kind: 'accept-late', ms: 5_000 })
    await expect(send(...post)).rejects.toThrow('fetch failed')
    await sandbox.stop()
    clock.advance(5_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(sandbox.messages(BUILDS)).toEqual([])
  })

  test('down cuts every connection until it is cleared', async () => {
    const { send, sandbox } = await openStage()
    const id = sandbox.faults.add({ kind: 'down' })
    await expect(send(...post)).rejects.toThrow('fetch failed')
    await expect(send('auth.test')).rejects.toThrow('fetch failed')
    sandbox.faults.clear(id)
    expect((await send(...post)).status).toBe(200)
    expect(sandbox.messages(BUILDS)).toHaveLength(1)
  })

  test('applies only to its method and channel, and only as often as requested', async () => {
    const { call, sandbox } = await openStage()
    sandbox.faults.add({ kind: 'error', error: 'hit', method: 'chat.postMessage', channel: CHANNELS.web, times: 2 })
    const error = async (channel: string) => (await call('chat.postMessage', { channel, text: 'a' })).error
    expect(await error(BUILDS)).toBeUndefined()
    expect((await call('conversations.info', { channel: CHANNELS.web })).error).toBeUndefined()
    expect([await error(CHANNELS.web), await error(CHANNELS.web), await error(CHANNELS.web)]).toEqual([
      'hit',
      'hit',
      undefined,
    ])
    expect(sandbox.faults.list()).toMatchObject([{ hits: 2 }])
  })
})

test('a probability with a seed hits the same calls each time, about as often as requested', () => {
  const draw = (seed: number) => {
    const faults = createFaults()
    faults.add({ kind: 'down', probability: 0.3, seed })
    return Array.from({ length: 1_000 }, () => faults.take({ method: 'auth.test', channel: undefined }) !== undefined)
  }
  const hits = draw(7).filter(Boolean).length
  expect(draw(7)).toEqual(draw(7))
  expect(draw(8)).not.toEqual(draw(7))
  expect(hits).toBeGreaterThan(250)
  expect(hits).toBeLessThan(350)
})

test('writes of the bot are counted for each message, those of people are not', async () => {
  const { call, post: say, sandbox } = await openStage()
  const ts = await say()
  await call('chat.update', { channel: BUILDS, ts, text: 'b' })
  await call('chat.update', { channel: BUILDS, ts, text: 'c' })
  const theirs = sandbox.acts.say({ user: 'U0ADA00001', channel: BUILDS, text: 'mine' })
  expect([sandbox.counters.writes(BUILDS, ts), sandbox.counters.writes(BUILDS, theirs)]).toEqual([3, 0])
  sandbox.acts.deleteMessage(BUILDS, ts)
  expect(sandbox.counters.writes(BUILDS, ts)).toBe(3)
})

describe('over HTTP', () => {
  const json = { 'content-type': 'application/json' }

  test('faults are added, listed and cleared', async () => {
    const { sandbox, send } = await openStage()
    const url = `${sandbox.url}/sandbox/faults`
    const body = JSON.stringify({ kind: '5xx', method: 'auth.test' })
    const added = await fetch(url, { method: 'POST', headers: json, body })
    expect([added.status, (await send('auth.test')).status]).toEqual([201, 503])
    expect(await (await fetch(url)).json()).toMatchObject({ faults: [{ kind: '5xx', hits: 1 }] })
    await fetch(url, { method: 'DELETE' })
    expect((await send('auth.test')).status).toBe(200)
  })

  test('an invalid fault is refused with a reason', async () => {
    const { sandbox } = await openStage()
    const body = JSON.stringify({ kind: 'flood' })
    const answer = await fetch(`${sandbox.url}/sandbox/faults`, { method: 'POST', headers: json, body })
    expect([answer.status, (await bodyOf(answer)).error]).toEqual([400, expect.stringContaining('kind')])
    expect(sandbox.faults.list()).toEqual([])
  })

  test('actions of people are performed, and refused if their target does not exist', async () => {
    const { sandbox, call } = await openStage()
    const act = async (body: object) =>
      (await fetch(`${sandbox.url}/sandbox/acts`, { method: 'POST', headers: json, body: JSON.stringify(body) })).status
    expect(await act({ kind: 'kick-bot', channel: BUILDS })).toBe(200)
    expect((await call(...post)).error).toBe('not_in_channel')
    expect(await act({ kind: 'invite-bot', channel: BUILDS })).toBe(200)
    expect(await call(...post)).toMatchObject({ ok: true })
    expect(await act({ kind: 'archive', channel: 'C0NOWHERE1' })).toBe(404)
    expect(await act({ kind: 'dance' })).toBe(400)
  })

  test('a page of another site cannot change anything', async () => {
    const { sandbox } = await openStage()
    const headers = { ...json, origin: 'http://elsewhere.test' }
    const body = JSON.stringify({ kind: 'down' })
    const answer = await fetch(`${sandbox.url}/sandbox/faults`, { method: 'POST', headers, body })
    expect(answer.status).toBe(403)
    expect(sandbox.faults.list()).toEqual([])
  })

  test('the counters can be read', async () => {
    const { sandbox, call } = await openStage()
    await call(...post)
    const counters = await (await fetch(`${sandbox.url}/sandbox/counters`)).json()
    expect(counters).toMatchObject({ calls: { 'chat.postMessage': { ok: 1 } }, ratelimited: 0 })
  })
})
